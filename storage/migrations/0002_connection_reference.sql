-- compatible
-- A client's own names for a connection (CONN-19). The columns are added without a rewrite; the index reads the table once, and writes of
-- connections wait for that.
alter table connection add column reference text, add column labels text[] not null default '{}';
create index connection_by_reference on connection (workspace_id, reference, created_at, id)
  where reference is not null and deleted_at is null;
