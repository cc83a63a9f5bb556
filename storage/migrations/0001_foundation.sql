-- The whole foundation: workspaces and keys, connections, operations, events and deliveries, and who owns
-- which partition. The job queues are pg-boss's own schema (`pgboss`), installed beside this one.

create table workspace (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null default now()
);

-- Only the SHA-256 of a key is kept; the key itself carries 256 random bits, so a plain hash is enough.
create table api_key (
  id uuid primary key,
  workspace_id uuid not null references workspace on delete cascade,
  name text,
  key_hash bytea not null unique,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_key_by_workspace on api_key (workspace_id, created_at);

create table regional_proxy (
  id uuid primary key,
  region text not null check (region ~ '^[A-Z]{2}$'),
  url text not null,                    -- scheme://host:port, never with credentials
  credentials_sealed bytea,             -- {username, password}
  active boolean not null default true,
  created_at timestamptz not null default now()
);
create index regional_proxy_by_region on regional_proxy (region) where active;

-- A running process. Its heartbeat tells the other nodes how many share the partitions.
create table node (
  id uuid primary key,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now()
);

-- partition = hash(connection_id) mod 64. One node owns a partition under an epoch until lease_until (database clock).
-- (id, epoch) is unique on purpose: PostgreSQL then takes FOR UPDATE to change the epoch, which waits for the
-- FOR KEY SHARE of every fenced write, while the renewal of lease_until alone passes them by.
create table partition (
  id smallint primary key check (id between 0 and 63),
  epoch bigint not null default 0,
  node_id uuid,
  lease_until timestamptz not null default '-infinity',
  unique (id, epoch)
);
insert into partition (id) select generate_series(0, 63);

create table connection (
  id uuid primary key,
  workspace_id uuid not null references workspace on delete cascade,
  partition smallint not null,
  provider text not null check (provider in ('social', 'simulated')),
  identity_key text not null,           -- folded username, or kind:id
  username text,
  password_sealed bytea,
  actor_kind text not null,
  actor_id text,
  health text not null check (health in ('ready', 'needs_login', 'invalid')),
  state_revision integer not null default 0,
  credential_version integer not null default 0,
  region text,
  proxy_id uuid references regional_proxy on delete set null,
  session_sealed bytea,                 -- cookies and local storage of the session numbered session_revision
  session_revision integer,
  recruiter_health text not null default 'not_verified' check (recruiter_health in ('not_verified', 'ready', 'needs_switch')),
  recruiter_reason text,
  recruiter_contract text,
  recruiter_verified_at timestamptz,
  recruiter_verified_revision integer,
  recruiter_operation_id uuid,
  created_at timestamptz not null default now(),
  check (provider <> 'social' or (username is not null and password_sealed is not null and region is not null)),
  check (provider <> 'simulated' or (actor_id is not null and username is null and health = 'ready')),
  check (provider <> 'social' or health <> 'ready' or session_sealed is not null)
);
create unique index connection_identity on connection (workspace_id, provider, identity_key);
create index connection_by_workspace on connection (workspace_id, created_at, id);
create index connection_by_partition on connection (partition) where provider = 'social' and health = 'ready';

-- The operation is the aggregate: attempts and timeline are read and written with it, so they stand in its row.
create table operation (
  id uuid primary key,                  -- UUIDv7: order of ids is order of acceptance
  workspace_id uuid not null,
  connection_id uuid not null references connection on delete cascade,
  partition smallint not null,
  capability text not null,
  status text not null check (status in
    ('queued', 'running', 'waiting_user', 'succeeded', 'failed', 'canceled', 'skipped', 'outcome_unknown')),
  idempotency_key text not null,
  fingerprint bytea not null,
  input jsonb,
  input_sealed bytea,                   -- instead of input, for what must be stored encrypted
  result jsonb,
  error_code text,
  error_details jsonb,
  challenge jsonb,                      -- {id, kind, expires_at, accepts_code, answered, tries}; only while waiting
  cancel_requested boolean not null default false,
  epoch bigint,                         -- of the partition when the current attempt started
  attempts jsonb not null default '[]',
  timeline jsonb not null default '[]',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(input, input_sealed) = 1),
  check ((status = 'waiting_user') = (challenge is not null)),
  check (status not in ('running', 'waiting_user') or epoch is not null),
  check ((status = 'failed') = (error_code is not null)),
  check (status <> 'succeeded' or result is not null)
) with (fillfactor = 80);
create unique index operation_idempotency on operation (workspace_id, idempotency_key);
create index operation_by_workspace on operation (workspace_id, id);
create index operation_by_connection on operation (connection_id, id);

-- One running or waiting operation per connection: decided here, whatever the processes believe. A table of its own and no
-- index over status: an operation changes its status three times, and none of its indexes notices (HOT updates, for
-- which its pages keep room). What is queued is found by its job.
create table lease (
  connection_id uuid primary key,
  operation_id uuid not null,
  partition smallint not null
);

-- Keys of operations that went with their connection: a reused key must conflict, never send again.
create table idempotency_tombstone (
  workspace_id uuid not null references workspace on delete cascade,
  key_hash bytea not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, key_hash)
);

create table subscription (
  id uuid primary key,
  workspace_id uuid not null,
  connection_id uuid not null references connection on delete cascade,
  partition smallint not null,
  event_types text[] not null check (cardinality(event_types) > 0),
  callback_url text not null,
  active boolean not null,
  secret_sealed bytea not null,
  previous_secret_sealed bytea,
  previous_valid_until timestamptz,
  created_at timestamptz not null default now()
);
create index subscription_by_connection on subscription (connection_id, created_at, id);

create table event (
  id uuid primary key,                  -- UUIDv7
  workspace_id uuid not null,
  connection_id uuid not null references connection on delete cascade,
  provider_event_id text not null,
  type text not null,
  received_at timestamptz not null default now(),
  data jsonb not null,
  unique (connection_id, provider_event_id)
);
create index event_by_connection on event (connection_id, id);

create table delivery (
  id uuid primary key,
  workspace_id uuid not null,
  subscription_id uuid not null references subscription on delete cascade,
  event_id uuid not null references event on delete cascade,
  partition smallint not null,
  status text not null check (status in ('pending', 'sending', 'delivered', 'failed', 'canceled')),
  attempt_count integer not null default 0,   -- over all series
  series_attempts integer not null default 0, -- since the last replay; five end the series
  replay_count integer not null default 0,
  epoch bigint,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  last_error text,
  check ((status = 'delivered') = (delivered_at is not null)),
  check (status <> 'sending' or epoch is not null),
  check (status = 'pending' or next_attempt_at is null)
);
create unique index delivery_by_subscription on delivery (subscription_id, event_id);
create index delivery_by_event on delivery (event_id);
create index delivery_by_status on delivery (subscription_id, status, event_id);
create index delivery_live on delivery (partition) where status = 'sending';

create table delivery_attempt (
  id uuid primary key,
  delivery_id uuid not null references delivery on delete cascade,
  sequence integer not null,
  outcome text not null check (outcome in ('sending', 'delivered', 'failed', 'canceled', 'abandoned')),
  status_code integer,
  error text,
  started_at timestamptz not null,
  completed_at timestamptz,
  unique (delivery_id, sequence)
);

create table listener (
  connection_id uuid primary key references connection on delete cascade,
  stream_status text not null check (stream_status in ('stopped', 'connecting', 'connected', 'degraded')),
  status text not null,
  reason text,
  continuity_status text not null check (continuity_status in ('continuous', 'gap_open', 'unknown')),
  epoch bigint not null,
  last_event_id text,
  last_event_at timestamptz,
  last_frame_at timestamptz,
  last_confirmed_at timestamptz,
  heartbeat_at timestamptz
);

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
