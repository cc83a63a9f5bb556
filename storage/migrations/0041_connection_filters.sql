-- compatible
-- What filtered lists of connections go on, each in its order. An index locks its table against writes while it is made: a second or two for
-- 100,000 connections.
create index connection_by_health on connection (workspace_id, provider, health, created_at, id) where deleted_at is null;
-- By the name that people know it by, in lower case; its beginning alone, so that a cursor stays short. A simulated actor's id is ASCII.
create index connection_by_name on connection (workspace_id, provider, health,
  (left(case provider when 'social' then identity_key else lower(actor_id) end, 60)) collate "C", id) where deleted_at is null;
