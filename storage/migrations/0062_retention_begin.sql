-- compatible
-- When the class whose turn it is was begun: what becomes too old meanwhile is left to the next round, or a class would never be through.
alter table retention_turn add column begun_at timestamptz;
