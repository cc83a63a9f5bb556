-- compatible
-- When the newest round was begun, how long after the one before, and how long its slices have taken together; `share` is what the last round took of the
-- time in which its rows had come: the pauses between slices follow from it.
alter table retention_turn add column round_at timestamptz, add column came_ms double precision,
  add column worked_ms double precision not null default 0, add column share double precision;
