-- compatible
-- A subscription of a workspace (EVT-23): its row has no connection, and a member for each connection, made beside the connection or by
-- `settleSlice`. A member has neither address nor secret, those are its parent's; `settled_at` and `settled_id` are the connection that a
-- change of the parent has come to, null when it has come to all. A deleted subscription (EVT-22) is hidden at once, its rows go afterwards.
-- Making the indexes locks their tables against writes: for about a second where there are a million rows.
alter table subscription
  add column parent_id uuid,
  add column deleted_at timestamptz,
  add column settled_at timestamptz,
  add column settled_id uuid,
  alter column connection_id drop not null,
  alter column partition drop not null,
  alter column secret_sealed drop not null;
alter table subscription drop constraint subscription_has_callback_url;
alter table subscription
  add constraint subscription_parent_id_fkey foreign key (parent_id) references subscription not valid,
  add constraint subscription_is_owned check ((connection_id is null) = (partition is null)
    and (connection_id is not null or parent_id is null)) not valid,
  add constraint subscription_has_callback_url
    check (num_nonnulls(callback_url, callback_url_sealed) = case when parent_id is null then 1 else 0 end) not valid,
  add constraint subscription_has_secret check ((secret_sealed is null) = (parent_id is not null)) not valid;
create unique index subscription_member on subscription (parent_id, connection_id) where parent_id is not null;
create index subscription_of_workspace on subscription (workspace_id) where connection_id is null;
create index subscription_unsettled on subscription (id) where settled_at is not null;
create index subscription_deleted on subscription (id) where deleted_at is not null;

-- Lists, counts and what is told of destinations have each subscription of a workspace once.
create index subscription_listed on subscription (workspace_id, created_at, id) where parent_id is null and deleted_at is null;
create index subscription_listed_by_activity on subscription (workspace_id, active, created_at, id)
  where parent_id is null and deleted_at is null;
drop index subscription_by_workspace, subscription_by_activity, subscription_active_destination;
create index subscription_active_destination on subscription (workspace_id, destination) where active and parent_id is null;

-- Its deliveries in one list. Those that failed are walked through by the subscription that is shown.
alter table delivery add column parent_id uuid;
create index delivery_of_parent on delivery (parent_id, status, event_id) where parent_id is not null;
drop index delivery_exhausted;
create index delivery_exhausted on delivery (workspace_id, coalesce(parent_id, subscription_id), id) where status = 'failed';

create or replace function count_new_subscriptions() returns trigger language plpgsql as $$
begin
  insert into subscription_count as c (workspace_id, subscriptions)
  select workspace_id, count(*) from changed where parent_id is null group by workspace_id order by workspace_id
  on conflict (workspace_id) do update set subscriptions = c.subscriptions + excluded.subscriptions;
  return null;
end $$;
create or replace function count_gone_subscriptions() returns trigger language plpgsql as $$
begin
  update subscription_count c set subscriptions = c.subscriptions - d.subscriptions
  from (select workspace_id, count(*) as subscriptions from changed where parent_id is null and deleted_at is null group by workspace_id) d
  where c.workspace_id = d.workspace_id;
  return null;
end $$;
create function count_deleted_subscription() returns trigger language plpgsql as $$
begin
  update subscription_count set subscriptions = subscriptions - 1 where workspace_id = new.workspace_id;
  return null;
end $$;
create trigger subscription_deleted after update of deleted_at on subscription for each row
  when (old.deleted_at is null and new.deleted_at is not null) execute function count_deleted_subscription();

-- The lock is shared by the connections of a workspace and taken alone by a new subscription of it: whichever comes after sees the other.
create function join_workspace_subscriptions() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7301848, hashtext(new.workspace_id::text));
  insert into subscription (id, workspace_id, connection_id, partition, event_types, active, destination, parent_id)
  select gen_random_uuid(), new.workspace_id, new.id, new.partition, w.event_types, w.active and new.health = 'ready', w.destination, w.id
  from subscription w where w.workspace_id = new.workspace_id and w.connection_id is null and w.deleted_at is null
  on conflict do nothing;
  return null;
end $$;
create trigger connection_joins after insert on connection for each row execute function join_workspace_subscriptions();

-- A disconnect ends what its connection's members get, being ready again brings it back; not before all of the disconnect is canceled.
create function activate_members() returns trigger language plpgsql as $$
begin
  update subscription s set active = true from subscription w
  where s.connection_id = new.id and s.parent_id = w.id and w.active and not s.active;
  return null;
end $$;
create trigger connection_has_members after update of health, cancel_through on connection for each row
  when (new.health = 'ready' and new.cancel_through is null and new.deleted_at is null
    and (old.health <> 'ready' or old.cancel_through is not null))
  execute function activate_members();

create or replace function announce_exhaustion() returns trigger language plpgsql as $$
begin
  insert into announcement (workspace_id, connection_id, type, provider_event_id, data)
  select e.workspace_id, e.connection_id, 'delivery.exhausted', 'delivery.exhausted/' || new.id || '/' || new.replay_count,
    jsonb_build_object('delivery_id', new.id, 'subscription_id', coalesce(new.parent_id, new.subscription_id), 'event_id', e.id,
      'event_type', e.type, 'attempt_count', new.attempt_count, 'last_error', new.last_error)
  from event e
  where e.id = new.event_id and e.type <> 'delivery.exhausted'
    and exists (select from subscription s where s.connection_id = e.connection_id and s.active
      and s.event_types && '{operation.finished,delivery.exhausted}' and 'delivery.exhausted' = any(s.event_types));
  return null;
end $$;

-- A node of the version before would send for a member without an address: none is made while one is alive.
alter table node add column workspace_subscriptions boolean not null default false;
