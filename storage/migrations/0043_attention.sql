-- compatible
-- What somebody has to look at, by workspace. No index goes on `operation`: its status would be in the condition, and then no change of a
-- status could stay on its page (HOT). So there is a row an operation, as `unknown_outcome` has them.

-- Locks `unknown_outcome` for as long as its rows are filled in; they are few.
alter table unknown_outcome add column workspace_id uuid;
update unknown_outcome u set workspace_id = o.workspace_id from operation o where o.id = u.operation_id;
create index unknown_outcome_by_workspace on unknown_outcome (workspace_id, since);

create or replace function note_unknown_outcome() returns trigger language plpgsql as $$
begin
  if new.evidence_look is null and new.evidence_look_sealed is null then
    insert into unknown_outcome (operation_id, workspace_id, partition) values (new.id, new.workspace_id, new.partition)
    on conflict do nothing;
  else
    delete from unknown_outcome where operation_id = new.id;
  end if;
  return null;
end $$;

-- One row an operation that waits for its user. Those that wait already are not in it: a challenge is given up within minutes.
create table waiting_operation (
  operation_id uuid primary key references operation on delete cascade,
  workspace_id uuid not null,
  since timestamptz not null default now()
);
create index waiting_operation_by_workspace on waiting_operation (workspace_id, since);

create function note_waiting_operation() returns trigger language plpgsql as $$
begin
  if new.status = 'waiting_user' then
    insert into waiting_operation (operation_id, workspace_id) values (new.id, new.workspace_id) on conflict do nothing;
  else
    delete from waiting_operation where operation_id = new.id;
  end if;
  return null;
end $$;

-- Locks `operation` against writes for a moment.
create trigger operation_waiting after update of status on operation
for each row when (old.status <> new.status and 'waiting_user' in (old.status, new.status)) execute function note_waiting_operation();

-- Each of these locks its table against writes while it is made: a second or so for a million rows. What their conditions name was in an
-- index before, or hardly changes.
create index connection_unready on connection (workspace_id, health_since) where health <> 'ready' and deleted_at is null;
create index connection_by_proxy on connection (proxy_id) where proxy_id is not null;
create index delivery_exhausted on delivery (workspace_id, subscription_id, id) where status = 'failed';
create index subscription_active_destination on subscription (workspace_id, destination) where active;
create index api_key_expiring on api_key (workspace_id, expires_at) where revoked_at is null and expires_at is not null;
