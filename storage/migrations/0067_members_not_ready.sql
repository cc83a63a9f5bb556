-- compatible
-- What the service tells of a connection that is not ready goes to subscriptions of its workspace too (EVT-23), and the first thing that it
-- tells of a simulated one: that it is ready. A member is active as its parent is, and `awaits_ready` keeps the provider's events from it. The members that
-- there are follow by settling. The column and the trigger lock their tables for a moment, no row but those of parents is read.
alter table subscription
  add column awaits_ready boolean not null default false,
  add constraint subscription_awaits_ready check (not awaits_ready or parent_id is not null) not valid;

create or replace function join_workspace_subscriptions() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7301848, hashtext(new.workspace_id::text));
  insert into subscription (id, workspace_id, connection_id, partition, event_types, active, awaits_ready, destination, parent_id)
  select gen_random_uuid(), new.workspace_id, new.id, new.partition, w.event_types, w.active, new.health <> 'ready', w.destination, w.id
  from subscription w where w.workspace_id = new.workspace_id and w.connection_id is null and w.deleted_at is null
  on conflict do nothing;
  insert into announcement (workspace_id, connection_id, type, provider_event_id, data)
  select new.workspace_id, new.id, 'connection.ready', 'connection.ready/' || gen_random_uuid(),
    jsonb_build_object('health', new.health, 'previous_health', null, 'reason', new.health_reason, 'state_revision', new.state_revision)
  where new.health = 'ready' and exists (
    select from subscription s where s.connection_id = new.id and s.active and 'connection.ready' = any(s.event_types));
  return null;
end $$;

-- A disconnect has made the members inactive, and has canceled what they had: from then on they are told of the connection again.
create or replace function activate_members() returns trigger language plpgsql as $$
begin
  update subscription s set active = true, awaits_ready = new.health <> 'ready' from subscription w
  where s.connection_id = new.id and s.parent_id = w.id and w.active and (not s.active or s.awaits_ready and new.health = 'ready');
  return null;
end $$;
drop trigger connection_has_members on connection;
create trigger connection_has_members after update of health, cancel_through on connection for each row
  when (new.cancel_through is null and new.deleted_at is null
    and (new.health is distinct from old.health or old.cancel_through is not null))
  execute function activate_members();

update subscription set settled_at = '-infinity', settled_id = '00000000-0000-0000-0000-000000000000'
where connection_id is null and deleted_at is null;
