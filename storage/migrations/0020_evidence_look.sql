-- compatible
-- What the last look at the place where a write would show has found (OPS-22). A look replaces the one before; the columns cost no
-- scan.
alter table operation
  add column evidence_look jsonb,
  add column evidence_look_sealed bytea;

-- Looks that were asked for and have not ended, one an operation. The owner of the partition makes them, and asks for them here: an
-- index on `operation` would have to be made with all its writes held up.
create table look_request (
  operation_id uuid primary key references operation on delete cascade,
  -- Of this request: what was asked for later is not answered by an earlier look.
  id uuid not null,
  workspace_id uuid not null,
  connection_id uuid not null,
  partition smallint not null,
  requested_at timestamptz not null default now()
);
create index look_request_by_partition on look_request (partition, connection_id, requested_at);
