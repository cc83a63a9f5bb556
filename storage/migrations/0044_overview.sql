-- compatible
-- What happened in the last hour, in steps of ten seconds: a row a step, workspace and node. Without a workspace: of all of them together,
-- and what belongs to none.
create table overview_step (
  workspace_id uuid,
  step timestamptz not null,
  node_id uuid not null,
  accepted integer not null,
  succeeded integer not null,
  failed integer not null,
  canceled integer not null,
  unknown integer not null,
  waits integer not null,
  delivered integer not null,
  undelivered integer not null,
  connections integer not null,
  subscriptions integer not null,
  -- Operations that ended, by how long that took from their acceptance: one count a bucket.
  took integer[] not null,
  queued integer,
  oldest_queued_s real,
  database_ms real,
  constraint overview_step_key unique nulls not distinct (workspace_id, step, node_id)
);
create index overview_step_by_time on overview_step (step);
