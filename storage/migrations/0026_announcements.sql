-- compatible
-- What the service itself has to tell becomes an event (EVT-20). Triggers note it in the transaction that makes it true, whatever statement
-- does, a node of the version before too; a node turns it into an event with its deliveries. Triggers and columns lock their tables against
-- writes for a moment; no row is read or written.
create table announcement (
  id bigint generated always as identity primary key,
  workspace_id uuid not null,
  -- No reference: its lock would be taken behind that of the operation, and those who cancel take them the other way round.
  connection_id uuid not null,
  type text not null,
  provider_event_id text not null,
  data jsonb not null,
  traceparent text,
  made_at timestamptz not null default now()
);
create index announcement_by_connection on announcement (connection_id);

-- Who asked for what is told on request only: all but empty.
create index subscription_told on subscription (connection_id)
  where active and event_types && '{operation.finished,delivery.exhausted}';

alter table connection add column health_reason text, add column health_since timestamptz;
alter table connection alter column health_since set default now();

-- A reason that a statement leaves as it was is not that of the new health.
create function note_health() returns trigger language plpgsql as $$
begin
  new.health_since = now();
  if new.health_reason is not distinct from old.health_reason then new.health_reason = null; end if;
  return new;
end $$;
create trigger connection_health_noted before update of health on connection
  for each row when (new.health is distinct from old.health) execute function note_health();

create function announce_health() returns trigger language plpgsql as $$
begin
  insert into announcement (workspace_id, connection_id, type, provider_event_id, data)
  values (new.workspace_id, new.id, 'connection.' || new.health, 'connection.' || new.health || '/' || gen_random_uuid(),
    jsonb_build_object('health', new.health, 'previous_health', old.health, 'reason', new.health_reason, 'state_revision', new.state_revision));
  return null;
end $$;
create trigger connection_health_told after update of health on connection
  for each row when (new.health is distinct from old.health) execute function announce_health();

create function announce_wait() returns trigger language plpgsql as $$
begin
  insert into announcement (workspace_id, connection_id, type, provider_event_id, data, traceparent)
  values (new.workspace_id, new.connection_id, 'operation.waiting_user', 'operation.waiting_user/' || (new.challenge ->> 'id'),
    jsonb_build_object('operation_id', new.id, 'capability', new.capability, 'challenge', jsonb_build_object('id', new.challenge -> 'id',
      'kind', new.challenge -> 'kind', 'expires_at', new.challenge -> 'expires_at', 'accepts_code', new.challenge -> 'accepts_code')),
    new.traceparent);
  return null;
end $$;
create trigger operation_waits_told after update of status, challenge on operation
  for each row when (new.status = 'waiting_user' and new.challenge -> 'id' is distinct from old.challenge -> 'id') execute function announce_wait();

create function announce_finish() returns trigger language plpgsql as $$
begin
  if exists (select from subscription s where s.connection_id = new.connection_id and s.active
      and s.event_types && '{operation.finished,delivery.exhausted}' and 'operation.finished' = any(s.event_types)) then
    insert into announcement (workspace_id, connection_id, type, provider_event_id, data, traceparent)
    values (new.workspace_id, new.connection_id, 'operation.finished', 'operation.finished/' || new.id,
      jsonb_build_object('operation_id', new.id, 'capability', new.capability, 'status', new.status, 'error_code', new.error_code),
      new.traceparent);
  end if;
  return null;
end $$;
create trigger operation_finish_told after update of status on operation
  for each row when (new.status in ('succeeded', 'failed', 'canceled', 'skipped', 'outcome_unknown') and old.status <> new.status)
  execute function announce_finish();

-- One of an exhausted delivery is told of nowhere: a receiver that is gone would be told of for ever.
create function announce_exhaustion() returns trigger language plpgsql as $$
begin
  insert into announcement (workspace_id, connection_id, type, provider_event_id, data)
  select e.workspace_id, e.connection_id, 'delivery.exhausted', 'delivery.exhausted/' || new.id || '/' || new.replay_count,
    jsonb_build_object('delivery_id', new.id, 'subscription_id', new.subscription_id, 'event_id', e.id, 'event_type', e.type,
      'attempt_count', new.attempt_count, 'last_error', new.last_error)
  from event e
  where e.id = new.event_id and e.type <> 'delivery.exhausted'
    and exists (select from subscription s where s.connection_id = e.connection_id and s.active
      and s.event_types && '{operation.finished,delivery.exhausted}' and 'delivery.exhausted' = any(s.event_types));
  return null;
end $$;
create trigger delivery_exhaustion_told after update of status on delivery
  for each row when (new.status = 'failed' and old.status <> 'failed') execute function announce_exhaustion();
