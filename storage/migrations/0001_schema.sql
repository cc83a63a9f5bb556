-- The tables of the service. What pg-boss needs for the durable queues is its own schema, which it makes itself.
--
-- A `…_sealed` column holds what an encryption key sealed; beside it, the plain column holds the same where the installation has no key.
-- Ids are UUIDs of version 7, which sort by the time they were made.

--- Installation, workspaces and keys

-- The secret under which requests are hashed for idempotency (OPS-9), in the only row.
create table installation (
  id boolean primary key default true,
  fingerprint_secret bytea,
  created_at timestamptz not null default now(),
  fingerprint_secret_sealed bytea,
  check (length(fingerprint_secret) = 32),
  constraint installation_has_fingerprint_secret check (fingerprint_secret is not null or fingerprint_secret_sealed is not null),
  check (id)
);

-- The encryption keys that the installation has had, with a value that tells whether a key of this name is the same one.
create table installation_key (
  key_id text primary key,
  check_value bytea not null,
  created_at timestamptz not null default now(),
  check (length(check_value) = 32)
);

create table workspace (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null default now()
);
create index workspace_by_creation on workspace (created_at, id);

-- Keys of workspaces (HTTP-23). Only the hash of a key is stored; people tell keys apart by `prefix`. `networks`: where it may be used from.
create table api_key (
  id uuid primary key,
  workspace_id uuid not null references workspace on delete cascade,
  name text,
  key_hash bytea not null unique,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  networks text[],
  prefix text not null,
  last_used_from text
);
create index api_key_by_creation on api_key (workspace_id, created_at, id);
create index api_key_expiring on api_key (workspace_id, expires_at) where revoked_at is null and expires_at is not null;

-- Keys of operators, who may name any workspace.
create table operator (
  id uuid primary key,
  name text not null,
  key_hash bytea not null unique,
  prefix text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  last_used_from text,
  revoked_at timestamptz,
  networks text[]
);

-- Who is signed in to the console, by a key of a workspace or of an operator.
create table console_session (
  token_hash bytea primary key,
  key_id uuid references api_key on delete cascade,
  operator_id uuid references operator on delete cascade,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  address text not null,
  user_agent text not null,
  revoked_at timestamptz,
  constraint console_session_holder check (num_nonnulls(key_id, operator_id) = 1)
);
create index console_session_by_expiry on console_session (expires_at);
create index console_session_by_holder on console_session (coalesce(key_id, operator_id), created_at);

-- What one workspace may have in place of what the installation's settings say (HTTP-27).
create table workspace_limit (
  workspace_id uuid not null references workspace on delete cascade,
  name text not null,
  value bigint not null,
  primary key (workspace_id, name),
  check (value > 0)
);

-- What each node was asked for by a workspace whose rate is limited, and the share of the rate that it took. Rows are written again and
-- again, and no index names what changes in them: with room on their pages they stay where they are.
create table workspace_rate (
  workspace_id uuid not null,
  rate text not null,
  node_id uuid not null,
  asked float8 not null,
  share float8 not null,
  noted_at timestamptz not null default now(),
  primary key (workspace_id, rate, node_id)
) with (fillfactor = 50);

-- What a workspace stores, where that is limited (HTTP-27): measured again and again, and in between what nodes note of new rows is added.
-- `noted`: of `bytes`, what was noted since the measurement that is under way began.
create table workspace_stored (
  workspace_id uuid primary key references workspace on delete cascade,
  bytes bigint not null default 0,
  noted bigint not null default 0,
  measured_at timestamptz
) with (fillfactor = 50);

-- The one measurement of the installation that is under way: of which workspace, up to which operation and audit entry, and what it found so far.
create table stored_turn (
  id boolean primary key default true,
  workspace_id uuid,
  until uuid,
  after uuid,
  found bigint not null default 0,
  due_at timestamptz not null default now(),
  entries_at timestamptz,
  entries_id uuid,
  check (id)
);

insert into stored_turn default values;

--- Connections

-- The proxies of each region, through which connections reach their site.
create table regional_proxy (
  id uuid primary key,
  region text not null,
  url text not null,
  credentials_sealed bytea,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  failing_since timestamptz,
  failure text,
  check (region ~ '^[A-Z]{2}$')
);
create index regional_proxy_by_region on regional_proxy (region) where active;

-- An account of a workspace. `session_sealed`: cookies and local storage of the session numbered `session_revision`. `cancel_through`: operations up
-- to this id are being canceled. `deleted_at`: the row stays until what belongs to it is removed.
create table connection (
  id uuid primary key,
  workspace_id uuid not null references workspace on delete cascade,
  partition smallint not null,
  provider text not null,
  identity_key text not null,
  username text,
  password_sealed bytea,
  actor_kind text not null,
  actor_id text,
  health text not null,
  state_revision integer not null default 0,
  credential_version integer not null default 0,
  region text,
  proxy_id uuid references regional_proxy on delete set null,
  session_sealed bytea,
  session_revision integer,
  recruiter_health text not null default 'not_verified',
  recruiter_reason text,
  recruiter_contract text,
  recruiter_verified_at timestamptz,
  recruiter_verified_revision integer,
  recruiter_operation_id uuid,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  cancel_through uuid,
  health_reason text,
  health_since timestamptz not null default now(),
  check (provider <> 'social' or (username is not null and password_sealed is not null and region is not null)),
  check (provider <> 'social' or health <> 'ready' or session_sealed is not null),
  check (health in ('ready', 'needs_login', 'invalid')),
  constraint connection_is_simulated check (provider <> 'simulated' or (actor_id is not null and username is null)),
  check (provider in ('social', 'simulated')),
  check (recruiter_health in ('not_verified', 'ready', 'needs_switch'))
);
create index connection_actor_hash on connection (workspace_id, md5(actor_id)) where provider = 'simulated';
create index connection_by_health on connection (workspace_id, provider, health, created_at, id) where deleted_at is null;
create index connection_by_name on connection (workspace_id, provider, health, left(case provider when 'social' then identity_key else lower(actor_id) end, 60) collate "C", id) where deleted_at is null;
create index connection_by_partition on connection (partition, provider, health);
create index connection_by_proxy on connection (proxy_id) where proxy_id is not null;
create index connection_by_workspace on connection (workspace_id, created_at, id);
create index connection_canceling on connection (id) where cancel_through is not null;
create index connection_deleted on connection (id) where deleted_at is not null;
create unique index connection_identity on connection (workspace_id, provider, identity_key);
create index connection_live on connection (workspace_id, created_at, id) where deleted_at is null;
create index connection_unready on connection (workspace_id, health_since) where health <> 'ready' and deleted_at is null;

-- The link with which the owner of an account signs in again, one a connection (CONN-14).
create table reconnect_link (
  connection_id uuid primary key references connection on delete cascade,
  id uuid not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  page_hash bytea,
  tries integer not null default 0,
  operation_id uuid,
  password_sealed bytea,
  check (length(page_hash) = 32)
);
create index reconnect_link_given on reconnect_link (expires_at) where password_sealed is not null;

-- Since when a connection has its health; why, where the change says so.
create function note_health() returns trigger language plpgsql as $$
begin
  new.health_since = now();
  if new.health_reason is not distinct from old.health_reason then new.health_reason = null; end if;
  return new;
end $$;
create trigger connection_health_noted before update of health on connection
  for each row when (new.health is distinct from old.health) execute function note_health();

--- Partitions and nodes

-- Connections are divided into 64 partitions. The node that owns one writes under its epoch, which each take-over counts up.
create table partition (
  id smallint primary key,
  epoch bigint not null default 0,
  node_id uuid,
  lease_until timestamptz not null default '-infinity',
  unique (id, epoch),
  check ((id >= 0) and (id <= 63))
);

-- The nodes that run, and what is accepted and has not ended on each.
create table node (
  id uuid primary key,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  backlog jsonb not null default '{}'
);

insert into partition (id) select generate_series(0, 63);

--- Operations

-- One accepted request and all that became of it. Much of each page is left free: a row is updated several times on its way, and stays where it is.
-- `epoch`: of the partition when the attempt started. `timeline`, `attempts`: what the answer shows of both.
create table operation (
  id uuid primary key,
  workspace_id uuid not null,
  connection_id uuid not null references connection on delete cascade,
  partition smallint not null,
  capability text not null,
  status text not null,
  idempotency_key text not null,
  fingerprint bytea not null,
  input jsonb,
  input_sealed bytea,
  result jsonb,
  error_code text,
  error_details jsonb,
  challenge jsonb,
  cancel_requested boolean not null default false,
  epoch bigint,
  attempts jsonb not null default '[]',
  timeline jsonb not null default '[]',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  result_sealed bytea,
  evidence jsonb,
  evidence_look jsonb,
  evidence_look_sealed bytea,
  request_id text,
  traceparent text,
  input_erased_at timestamptz,
  result_erased_at timestamptz,
  looked_at timestamptz,
  check ((status = 'waiting_user') = (challenge is not null)),
  check ((status not in ('running', 'waiting_user')) or epoch is not null),
  check ((status = 'failed') = (error_code is not null)),
  constraint operation_has_evidence check (evidence is null or status = 'outcome_unknown'),
  constraint operation_has_input check (num_nonnulls(input, input_sealed) = case when input_erased_at is null then 1 else 0 end),
  constraint operation_has_result check (status <> 'succeeded' or (num_nonnulls(result, result_sealed) = case when result_erased_at is null then 1 else 0 end)),
  check (status in ('queued', 'running', 'waiting_user', 'succeeded', 'failed', 'canceled', 'skipped', 'outcome_unknown'))
) with (fillfactor = 30);
create index operation_by_connection on operation (connection_id, id);
create index operation_by_workspace on operation (workspace_id, id);
create unique index operation_idempotency on operation (workspace_id, idempotency_key);

-- Keys of operations that were removed with their connection: they stay used (OPS-9).
create table idempotency_tombstone (
  workspace_id uuid not null references workspace on delete cascade,
  key_hash bytea not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, key_hash)
);
create index idempotency_tombstone_by_creation on idempotency_tombstone (created_at);

-- The parts of a downloaded file, by attempt.
create table operation_file (
  operation_id uuid not null references operation on delete cascade,
  attempt_id uuid not null,
  part integer not null,
  bytes bytea not null,
  sealed boolean not null default false,
  primary key (operation_id, attempt_id, part),
  check (part >= 0)
);
-- Sealed bytes do not compress.
alter table operation_file alter column bytes set storage external;

-- Looks at the provider that were asked for (OPS-22), until they have ended.
create table look_request (
  operation_id uuid primary key references operation on delete cascade,
  id uuid not null,
  workspace_id uuid not null,
  connection_id uuid not null,
  partition smallint not null,
  requested_at timestamptz not null default now()
);
create index look_request_by_partition on look_request (partition, connection_id, requested_at);

-- The operations that wait for their user.
create table waiting_operation (
  operation_id uuid primary key references operation on delete cascade,
  workspace_id uuid not null,
  since timestamptz not null default now(),
  connection_id uuid not null
);
create index waiting_operation_by_connection on waiting_operation (connection_id, operation_id);
create index waiting_operation_by_workspace on waiting_operation (workspace_id, since);
create index waiting_operation_listed on waiting_operation (workspace_id, operation_id);

-- The operations with an unknown outcome at which nobody has looked.
create table unknown_outcome (
  operation_id uuid primary key references operation on delete cascade,
  partition smallint not null,
  since timestamptz not null default now(),
  workspace_id uuid not null
);
create index unknown_outcome_by_partition on unknown_outcome (partition, since);
create index unknown_outcome_by_workspace on unknown_outcome (workspace_id, since);

-- The invitations of the simulated network.
create table simulated_invitation (
  operation_id uuid primary key,
  connection_id uuid not null references connection on delete cascade,
  recipient text not null,
  sent_at timestamptz not null default now(),
  accepted boolean not null default false
);
create index simulated_invitation_by_connection on simulated_invitation (connection_id, operation_id);
create index simulated_invitation_by_recipient on simulated_invitation (connection_id, recipient);

create function note_waiting_operation() returns trigger language plpgsql as $$
begin
  if new.status = 'waiting_user' then
    insert into waiting_operation (operation_id, workspace_id, connection_id) values (new.id, new.workspace_id, new.connection_id)
    on conflict do nothing;
  else
    delete from waiting_operation where operation_id = new.id;
  end if;
  return null;
end $$;
create trigger operation_waiting after update of status on operation
  for each row when (old.status <> new.status and 'waiting_user' in (old.status, new.status)) execute function note_waiting_operation();

create function note_unknown_outcome() returns trigger language plpgsql as $$
begin
  if num_nonnulls(new.evidence_look, new.evidence_look_sealed, new.looked_at) = 0 then
    insert into unknown_outcome (operation_id, workspace_id, partition) values (new.id, new.workspace_id, new.partition)
    on conflict do nothing;
  else
    delete from unknown_outcome where operation_id = new.id;
  end if;
  return null;
end $$;
create trigger operation_unknown after update of status, evidence_look, evidence_look_sealed on operation
  for each row when (new.status = 'outcome_unknown') execute function note_unknown_outcome();

--- Listeners, events and subscriptions

-- The stream of a connection, as its owner saw it last (EVT-9).
create table listener (
  connection_id uuid primary key references connection on delete cascade,
  stream_status text not null,
  status text not null,
  reason text,
  continuity_status text not null,
  epoch bigint not null,
  last_event_id text,
  last_event_at timestamptz,
  last_frame_at timestamptz,
  last_confirmed_at timestamptz,
  heartbeat_at timestamptz,
  check (continuity_status in ('continuous', 'gap_open', 'unknown')),
  check (stream_status in ('stopped', 'connecting', 'connected', 'degraded'))
);

-- When a stream was interrupted: what happened meanwhile is not known.
create table listener_gap (
  id uuid primary key,
  connection_id uuid not null references connection on delete cascade,
  reason text not null,
  last_event_id text,
  started_at timestamptz not null default now(),
  closed_at timestamptz
);
create index listener_gap_by_connection on listener_gap (connection_id, started_at desc);
create unique index listener_gap_open on listener_gap (connection_id) where closed_at is null;

-- `conversation_hash`, `delivered_ms`: by which a sealed message is found.
create table event (
  id uuid primary key,
  workspace_id uuid not null,
  connection_id uuid not null references connection on delete cascade,
  provider_event_id text not null,
  type text not null,
  received_at timestamptz not null default date_trunc('milliseconds', now()),
  data jsonb,
  data_sealed bytea,
  conversation_hash bytea,
  delivered_ms bigint,
  traceparent text,
  unique (connection_id, provider_event_id),
  constraint event_has_data check (num_nonnulls(data, data_sealed) = 1)
);
create index event_by_connection on event (connection_id, id);
create index event_conversation on event (connection_id, conversation_hash, id) where conversation_hash is not null;
create index event_message on event (connection_id, left((data ->> 'conversation_id'), 255), id) where data is not null and (type in ('message_sent', 'message_received'));

-- How many events a connection has: its newest has the rank `event_count`, its oldest 1, so that the offset of a list is arithmetic. A table of its
-- own, because its row is locked from a batch of events until the commit, in the order of connections.
create table event_list (
  connection_id uuid primary key references connection on delete cascade,
  event_count bigint not null,
  id_floor uuid not null default '00000000-0000-0000-0000-000000000000'
) with (fillfactor = 50);

-- Beside the event, because only after the insert is it known which events were new.
create table event_position (
  connection_id uuid not null references connection on delete cascade,
  rank bigint not null,
  event_id uuid not null,
  primary key (connection_id, rank)
);

-- One of a workspace (`connection_id` is null) has a member for each connection, which names it as its parent and has its deliveries (EVT-23).
-- `destination`: the hash of host and port. `settled_at`, `settled_id`: how far its members follow its last change.
create table subscription (
  id uuid primary key,
  workspace_id uuid not null,
  connection_id uuid references connection on delete cascade,
  partition smallint,
  event_types text[] not null,
  callback_url text,
  active boolean not null,
  secret_sealed bytea,
  created_at timestamptz not null default now(),
  delivery_count bigint not null default 0,
  destination bytea,
  verified boolean not null default false,
  callback_url_sealed bytea,
  on_hold boolean not null default false,
  parent_id uuid references subscription,
  deleted_at timestamptz,
  settled_at timestamptz,
  settled_id uuid,
  held_at timestamptz,
  awaits_ready boolean not null default false,
  constraint subscription_awaits_ready check ((not awaits_ready) or parent_id is not null),
  check (cardinality(event_types) > 0),
  constraint subscription_has_callback_url check (num_nonnulls(callback_url, callback_url_sealed) = case when parent_id is null then 1 else 0 end),
  constraint subscription_has_secret check ((secret_sealed is null) = (parent_id is not null)),
  constraint subscription_is_owned check (((connection_id is null) = (partition is null)) and (connection_id is not null or parent_id is null))
);
create index subscription_active_destination on subscription (workspace_id, destination) where active and parent_id is null;
create index subscription_by_connection on subscription (connection_id, created_at, id);
create index subscription_by_destination on subscription (connection_id, destination);
create index subscription_deleted on subscription (id) where deleted_at is not null;
create index subscription_held on subscription (workspace_id, held_at) where held_at is not null and active and deleted_at is null;
create index subscription_listed on subscription (workspace_id, created_at, id) where parent_id is null and deleted_at is null;
create index subscription_listed_by_activity on subscription (workspace_id, active, created_at, id) where parent_id is null and deleted_at is null;
create unique index subscription_member on subscription (parent_id, connection_id) where parent_id is not null;
create index subscription_of_workspace on subscription (workspace_id) where connection_id is null;
create index subscription_told on subscription (connection_id) where active and (event_types && '{operation.finished,delivery.exhausted}'::text[]);
create index subscription_unsettled on subscription (id) where settled_at is not null;

-- The earlier secrets that sign callbacks until `valid_until` (EVT-12).
create table former_secret (
  id uuid primary key default gen_random_uuid(),
  subscription_id uuid not null references subscription on delete cascade,
  secret_sealed bytea not null,
  valid_until timestamptz not null
);
create index former_secret_by_subscription on former_secret (subscription_id, valid_until);

-- How many subscriptions a workspace has: its bound is held by a row lock. Triggers count, so that nothing is missed.
create table subscription_count (
  workspace_id uuid primary key,
  subscriptions bigint not null,
  check (subscriptions >= 0)
);

-- An event on its way to a subscription. `rank`: its place in the list of the subscription.
create table delivery (
  id uuid primary key,
  workspace_id uuid not null,
  subscription_id uuid not null references subscription on delete cascade,
  event_id uuid not null,
  partition smallint not null,
  status text not null,
  attempt_count integer not null default 0,
  series_attempts integer not null default 0,
  replay_count integer not null default 0,
  epoch bigint,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  last_error text,
  rank bigint not null,
  parent_id uuid,
  check ((status = 'delivered') = (delivered_at is not null)),
  check (status <> 'sending' or epoch is not null),
  check (status = 'pending' or next_attempt_at is null),
  check (status in ('pending', 'sending', 'delivered', 'failed', 'canceled'))
);
create unique index delivery_by_rank on delivery (subscription_id, rank);
create index delivery_by_status on delivery (subscription_id, status, event_id);
create index delivery_due on delivery (subscription_id, next_attempt_at, event_id) where status = 'pending';
create index delivery_exhausted on delivery (workspace_id, coalesce(parent_id, subscription_id), id) where status = 'failed';
create index delivery_live on delivery (partition) where status = 'sending';
create index delivery_of_parent on delivery (parent_id, status, event_id) where parent_id is not null;

create table delivery_attempt (
  id uuid primary key,
  delivery_id uuid not null references delivery on delete cascade,
  sequence integer not null,
  outcome text not null,
  status_code integer,
  error text,
  started_at timestamptz not null,
  completed_at timestamptz,
  unique (delivery_id, sequence),
  check (outcome in ('sending', 'delivered', 'failed', 'canceled', 'abandoned'))
) with (fillfactor = 60);

-- How many of the oldest deliveries of a subscription were erased by their age: the ranks of the others stay.
create table erased_deliveries (
  subscription_id uuid primary key references subscription on delete cascade,
  deliveries bigint not null
);

-- Destinations that do not answer (EVT-17).
create table callback_pause (
  destination bytea primary key,
  reason text not null,
  since timestamptz not null default now(),
  tried_at timestamptz not null default now()
);
create index callback_pause_by_try on callback_pause (tried_at);

-- Events of the service itself, which a trigger writes with the change that they tell of. A node turns each into an event with its deliveries.
create table announcement (
  id bigint primary key generated always as identity,
  workspace_id uuid not null,
  connection_id uuid not null,
  type text not null,
  provider_event_id text not null,
  data jsonb not null,
  traceparent text,
  made_at timestamptz not null default now()
);
create index announcement_by_connection on announcement (connection_id);

create function count_new_subscriptions() returns trigger language plpgsql as $$
begin
  insert into subscription_count as c (workspace_id, subscriptions)
  select workspace_id, count(*) from changed where parent_id is null group by workspace_id order by workspace_id
  on conflict (workspace_id) do update set subscriptions = c.subscriptions + excluded.subscriptions;
  return null;
end $$;
create trigger subscription_added after insert on subscription referencing new table as changed
  for each statement execute function count_new_subscriptions();

create function count_deleted_subscription() returns trigger language plpgsql as $$
begin
  update subscription_count set subscriptions = subscriptions - 1 where workspace_id = new.workspace_id;
  return null;
end $$;
create trigger subscription_deleted after update of deleted_at on subscription
  for each row when (old.deleted_at is null and new.deleted_at is not null) execute function count_deleted_subscription();

create function count_gone_subscriptions() returns trigger language plpgsql as $$
begin
  update subscription_count c set subscriptions = c.subscriptions - d.subscriptions
  from (select workspace_id, count(*) as subscriptions from changed where parent_id is null and deleted_at is null group by workspace_id) d
  where c.workspace_id = d.workspace_id;
  return null;
end $$;
create trigger subscription_gone after delete on subscription referencing old table as changed
  for each statement execute function count_gone_subscriptions();

create function note_hold() returns trigger language plpgsql as $$
begin
  new.held_at := case when new.on_hold then now() end;
  return new;
end $$;
create trigger note_hold before update of on_hold on subscription
  for each row when (new.on_hold is distinct from old.on_hold) execute function note_hold();

-- A new connection becomes a member of the subscriptions of its workspace. The lock puts it before or behind a change of those (EVT-23).
create function join_workspace_subscriptions() returns trigger language plpgsql as $$
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
create trigger connection_joins after insert on connection for each row execute function join_workspace_subscriptions();

create function activate_members() returns trigger language plpgsql as $$
begin
  update subscription s set active = true, awaits_ready = new.health <> 'ready' from subscription w
  where s.connection_id = new.id and s.parent_id = w.id and w.active and (not s.active or s.awaits_ready and new.health = 'ready');
  return null;
end $$;
create trigger connection_has_members after update of health, cancel_through on connection
  for each row when (new.cancel_through is null and new.deleted_at is null
    and (new.health is distinct from old.health or old.cancel_through is not null)) execute function activate_members();

create function announce_health() returns trigger language plpgsql as $$
begin
  insert into announcement (workspace_id, connection_id, type, provider_event_id, data)
  values (new.workspace_id, new.id, 'connection.' || new.health, 'connection.' || new.health || '/' || gen_random_uuid(),
    jsonb_build_object('health', new.health, 'previous_health', old.health, 'reason', new.health_reason, 'state_revision', new.state_revision));
  return null;
end $$;
create trigger connection_health_told after update of health on connection
  for each row when (new.health is distinct from old.health) execute function announce_health();

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
  for each row when (new.status = 'waiting_user' and (new.challenge -> 'id') is distinct from (old.challenge -> 'id')) execute function announce_wait();

create function announce_exhaustion() returns trigger language plpgsql as $$
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
create trigger delivery_exhaustion_told after update of status on delivery
  for each row when (new.status = 'failed' and old.status <> 'failed') execute function announce_exhaustion();

--- Retention and erasure

-- How far retention is: the class it erases now, and what it measured of its pace.
create table retention_turn (
  id boolean primary key default true,
  class text,
  after text,
  due_at timestamptz not null default now(),
  through jsonb not null default '{}',
  marks jsonb not null default '{}',
  begun_at timestamptz,
  round_at timestamptz,
  came_ms float8,
  worked_ms float8 not null default 0,
  share float8,
  check (id)
);

-- Operations that retention has passed by, because they are still needed.
create table retention_passed (
  class text not null,
  operation_id uuid not null references operation on delete cascade,
  looked_at timestamptz not null default now(),
  primary key (class, operation_id)
);
create index retention_passed_by_look on retention_passed (class, looked_at);
create index retention_passed_by_operation on retention_passed (operation_id);

-- What was erased at whose request, without a word of what it was.
create table erasure_receipt (
  id uuid primary key,
  kind text not null,
  connection_id uuid,
  salt bytea,
  person_hash bytea,
  workspace_id uuid,
  requested_at timestamptz not null default now(),
  completed_at timestamptz,
  erased jsonb not null default '{}',
  remaining jsonb not null default '{}',
  rewritten boolean not null default false,
  check ((kind = 'connection') = (connection_id is not null)),
  check ((kind = 'person') = (salt is not null and person_hash is not null)),
  check (kind in ('connection', 'person'))
);

insert into retention_turn default values;

--- Overview

-- What happened in each workspace and at each node, in steps of time (HTTP-28).
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
  took integer[] not null,
  queued integer,
  oldest_queued_s real,
  database_ms real,
  threads integer,
  thread_restarts integer,
  mailboxes integer,
  browsers integer,
  browser_restarts integer,
  contexts integer,
  pages integer,
  runs_waiting integer,
  batch_items real,
  draining boolean,
  moves integer not null default 0,
  resumes integer not null default 0,
  constraint overview_step_key unique nulls not distinct (workspace_id, step, node_id)
);
create index overview_step_by_time on overview_step (step);

--- Audit log
-- Who did what, on what, from where, when (HTTP-30), in parts by month. Entries are only ever added: the triggers refuse the rest to everybody, the
-- owner included, and a role of its own for the service can be denied it as well. What is deleted elsewhere stays here, so no column refers to
-- another table.
--
-- `xact` is the transaction that wrote the entry: those below the oldest one under way are complete, so a reader that goes on behind the last
-- (xact, id) misses none. `target_kinds` stays null for submissions, all of whose targets are operations. The list of what is still to be indexed by
-- target is kept short, because the insert that fills it has to empty it; submissions are found by the time in an operation's id.
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
) partition by range (at);
create index entry_by_actor on audit.entry (actor_id, at, id);
create index entry_by_target on audit.entry using gin (target_ids) with (gin_pending_list_limit='64') where action <> 'operation.submit';
create index entry_by_workspace on audit.entry (workspace_id, at, id);
create index entry_by_workspace_xact on audit.entry (workspace_id, xact, id);
create index entry_by_xact on audit.entry (xact, id);

create function audit.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger entry_is_kept before delete or update or truncate on audit.entry
  for each statement execute function audit.refuse_change();

revoke update, delete, truncate on audit.entry from public;
create table audit.entry_rest partition of audit.entry default;
create trigger entry_is_kept before update or delete or truncate on audit.entry_rest
  for each statement execute function audit.refuse_change();

-- A function, so that no view stands in the way of dropping the table.
create function audit.newest_in_rest() returns timestamptz language plpgsql stable
  set search_path = pg_catalog, pg_temp as $$
begin
  return (select max(at) from audit.entry_rest);
end $$;

-- Entries of a part are from `since` on and before `until`; null: without a bound. `open`: it may still get entries; it counts as such for a day longer, for
-- transactions that end late.
create view audit.part as
  select replace(substr(c.relname, 7), '_', '-') as name, c.oid::regclass as relation, r.since, r.until,
    coalesce(r.until, audit.newest_in_rest()) > now() - interval '1 day' is true as open
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  cross join lateral pg_get_expr(c.relpartbound, c.oid) bound
  cross join lateral (select (regexp_match(bound, 'FROM \(''([^'']+)''\)'))[1]::timestamptz as since,
    (regexp_match(bound, 'TO \(''([^'']+)''\)'))[1]::timestamptz as until) r
  where i.inhparent = 'audit.entry'::regclass;

-- Makes the parts of this month and of the next two that are missing, and gives their names. With the rights of its owner, so that a service which may
-- only add entries gets them too. A month of which `entry_rest` has entries stays there.
create function audit.make_parts() returns setof text language plpgsql security definer
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '1s' as $$
declare
  low timestamptz;
  relation text;
begin
  if not pg_try_advisory_xact_lock(7301846212) then return; end if;
  for months in 0..2 loop
    low := date_trunc('month', now()) + make_interval(months => months);
    continue when exists (select from audit.part p
      where p.name <> 'rest' and coalesce(p.since, '-infinity') <= low and coalesce(p.until, 'infinity') > low);
    relation := to_char(low, '"entry_"YYYY_MM');
    begin
      execute format('create table audit.%I (like audit.entry including defaults)', relation);
      execute format('create trigger entry_is_kept before update or delete or truncate on audit.%I
        for each statement execute function audit.refuse_change()', relation);
      execute format('alter table audit.entry attach partition audit.%I for values from (%L) to (%L)',
        relation, low, low + interval '1 month');
      return next to_char(low, 'YYYY-MM');
    exception when check_violation then null;
    end;
  end loop;
end $$;

-- Drops a part that gets no entries any more and has as many as the caller says, by the rights of the caller, who has to own the log.
create function audit.drop_part(part text, entries bigint) returns void language plpgsql
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '1s' as $$
declare
  relation regclass := (select p.relation from audit.part p where p.name = part);
  found bigint;
begin
  if relation is null then
    raise exception 'the audit log has no part %', part using errcode = 'undefined_table';
  end if;
  execute format('lock table %s in share row exclusive mode', relation);
  if (select p.open from audit.part p where p.name = part) then
    raise exception 'the part % may still get entries', part using errcode = 'object_in_use';
  end if;
  execute format('select count(*) from %s', relation) into found;
  if found is distinct from entries then
    raise exception 'the part % has % entries, not %', part, found, entries using errcode = 'object_not_in_prerequisite_state';
  end if;
  execute format('drop table %s', relation);
  if part = 'rest' then
    create table audit.entry_rest partition of audit.entry default;
    create trigger entry_is_kept before update or delete or truncate on audit.entry_rest
      for each statement execute function audit.refuse_change();
  end if;
end $$;

--- Audit log, beside its entries

-- The parts that were written into files. A part is dropped only with such a file.
create table audit_archive (
  part text not null,
  sha256 text not null,
  entries bigint not null,
  archived_at timestamptz not null default now(),
  primary key (part, sha256)
);

-- A dump that is loaded into another server keeps the transactions of the log, and that server counts its own from anew. A row ends what one server
-- wrote: entries up to `until` come first, those behind are counted anew.
create table audit_era (
  until timestamptz primary key,
  noted_at timestamptz not null default now()
);

-- How often a reader looked at an object within an hour, which leaves one entry in the log.
create table audit_reveal (
  reader text not null,
  action text not null,
  target_id uuid not null,
  hour timestamptz not null,
  entry_id uuid not null,
  reads bigint not null,
  primary key (reader, target_id, action, hour)
);
create index audit_reveal_by_entry on audit_reveal (entry_id);
create index audit_reveal_by_hour on audit_reveal using brin (hour);
