-- compatible
-- When the round under way was begun, how long its slices have taken together, and those of the last one: the pauses between slices follow from it.
alter table retention_turn add column round_at timestamptz, add column worked_ms double precision not null default 0,
  add column last_ms double precision;
