-- compatible
-- Who did what, on what, from where, when (HTTP-30). Entries are only ever added: the triggers refuse the rest to everybody, the owner
-- included, and a role of its own for the service can be denied it as well. What is deleted elsewhere stays here, so no column
-- refers to another table.
--
-- `xact` is the transaction that wrote the entry: those below the oldest one under way are complete, so a reader that goes on behind the
-- last (xact, id) misses none. `target_kinds` stays null for submissions, all of whose targets are operations.
create schema audit;
create table audit.entry (
  at timestamptz not null default now(),
  id uuid not null,
  xact xid8 not null default pg_current_xact_id(),
  workspace_id uuid,
  actor_kind text not null,
  actor_id uuid,
  actor_name text,
  action text not null,
  target_kinds text[],
  target_ids uuid[],
  request_id text,
  address text,
  details jsonb,
  primary key (at, id)
);
create index entry_by_workspace on audit.entry (workspace_id, at, id);
create index entry_by_actor on audit.entry (actor_id, at, id);
create index entry_by_xact on audit.entry (xact, id);
create index entry_by_workspace_xact on audit.entry (workspace_id, xact, id);
-- The list of what is still to be indexed is kept short, because the insert that fills it has to empty it. Submissions are found by the
-- time in an operation's id.
create index entry_by_target on audit.entry using gin (target_ids) with (gin_pending_list_limit = 64)
  where action <> 'operation.submit';

create function audit.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger entry_is_kept before update or delete or truncate on audit.entry
  for each statement execute function audit.refuse_change();
revoke update, delete, truncate on audit.entry from public;
