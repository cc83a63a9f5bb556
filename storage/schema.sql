-- Written by storage/schema/dump.ts from the migrations; not run by anything.

create table announcement (
  id bigint not null generated always as identity,
  workspace_id uuid not null,
  connection_id uuid not null,
  type text not null,
  provider_event_id text not null,
  data jsonb not null,
  traceparent text,
  made_at timestamp with time zone not null default now(),
  constraint announcement_pkey PRIMARY KEY (id)
);
CREATE INDEX announcement_by_connection ON public.announcement USING btree (connection_id);

create table api_key (
  id uuid not null,
  workspace_id uuid not null,
  name text,
  key_hash bytea not null,
  scopes text[] not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  networks text[],
  prefix text not null,
  last_used_from text,
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_key_hash_key UNIQUE (key_hash),
  constraint api_key_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX api_key_by_creation ON public.api_key USING btree (workspace_id, created_at, id);
CREATE INDEX api_key_expiring ON public.api_key USING btree (workspace_id, expires_at) WHERE ((revoked_at IS NULL) AND (expires_at IS NOT NULL));

create table audit.entry (
  at timestamp with time zone not null default now(),
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
  constraint entry_pkey PRIMARY KEY (at, id)
) partition by RANGE (at);
CREATE INDEX entry_by_actor ON ONLY audit.entry USING btree (actor_id, at, id);
CREATE INDEX entry_by_target ON ONLY audit.entry USING gin (target_ids) WITH (gin_pending_list_limit='64') WHERE (action <> 'operation.submit'::text);
CREATE INDEX entry_by_workspace ON ONLY audit.entry USING btree (workspace_id, at, id);
CREATE INDEX entry_by_workspace_xact ON ONLY audit.entry USING btree (workspace_id, xact, id);
CREATE INDEX entry_by_xact ON ONLY audit.entry USING btree (xact, id);
CREATE TRIGGER entry_is_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON audit.entry FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();

create table audit_archive (
  part text not null,
  sha256 text not null,
  entries bigint not null,
  archived_at timestamp with time zone not null default now(),
  constraint audit_archive_pkey PRIMARY KEY (part, sha256)
);

create table audit_era (
  until timestamp with time zone not null,
  noted_at timestamp with time zone not null default now(),
  constraint audit_era_pkey PRIMARY KEY (until)
);

create table audit_reveal (
  reader text not null,
  action text not null,
  target_id uuid not null,
  hour timestamp with time zone not null,
  entry_id uuid not null,
  reads bigint not null,
  constraint audit_reveal_pkey PRIMARY KEY (reader, target_id, action, hour)
);
CREATE INDEX audit_reveal_by_entry ON public.audit_reveal USING btree (entry_id);
CREATE INDEX audit_reveal_by_hour ON public.audit_reveal USING brin (hour);

create table callback_pause (
  destination bytea not null,
  reason text not null,
  since timestamp with time zone not null default now(),
  tried_at timestamp with time zone not null default now(),
  constraint callback_pause_pkey PRIMARY KEY (destination)
);
CREATE INDEX callback_pause_by_try ON public.callback_pause USING btree (tried_at);

create table connection (
  id uuid not null,
  workspace_id uuid not null,
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
  proxy_id uuid,
  session_sealed bytea,
  session_revision integer,
  recruiter_health text not null default 'not_verified'::text,
  recruiter_reason text,
  recruiter_contract text,
  recruiter_verified_at timestamp with time zone,
  recruiter_verified_revision integer,
  recruiter_operation_id uuid,
  created_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  cancel_through uuid,
  health_reason text,
  health_since timestamp with time zone not null default now(),
  reference text,
  labels text[] not null default '{}'::text[],
  constraint connection_pkey PRIMARY KEY (id),
  constraint connection_proxy_id_fkey FOREIGN KEY (proxy_id) REFERENCES regional_proxy(id) ON DELETE SET NULL,
  constraint connection_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE,
  constraint connection_check CHECK (((provider <> 'social'::text) OR ((username IS NOT NULL) AND (password_sealed IS NOT NULL) AND (region IS NOT NULL)))),
  constraint connection_check1 CHECK (((provider <> 'social'::text) OR (health <> 'ready'::text) OR (session_sealed IS NOT NULL))),
  constraint connection_health_check CHECK ((health = ANY (ARRAY['ready'::text, 'needs_login'::text, 'invalid'::text]))),
  constraint connection_is_simulated CHECK (((provider <> 'simulated'::text) OR ((actor_id IS NOT NULL) AND (username IS NULL)))),
  constraint connection_provider_check CHECK ((provider = ANY (ARRAY['social'::text, 'simulated'::text]))),
  constraint connection_recruiter_health_check CHECK ((recruiter_health = ANY (ARRAY['not_verified'::text, 'ready'::text, 'needs_switch'::text])))
);
CREATE INDEX connection_actor_hash ON public.connection USING btree (workspace_id, md5(actor_id)) WHERE (provider = 'simulated'::text);
CREATE INDEX connection_by_health ON public.connection USING btree (workspace_id, provider, health, created_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX connection_by_name ON public.connection USING btree (workspace_id, provider, health, "left"(
CASE provider
    WHEN 'social'::text THEN identity_key
    ELSE lower(actor_id)
END, 60) COLLATE "C", id) WHERE (deleted_at IS NULL);
CREATE INDEX connection_by_partition ON public.connection USING btree (partition, provider, health);
CREATE INDEX connection_by_proxy ON public.connection USING btree (proxy_id) WHERE (proxy_id IS NOT NULL);
CREATE INDEX connection_by_reference ON public.connection USING btree (workspace_id, reference, created_at, id) WHERE ((reference IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX connection_by_workspace ON public.connection USING btree (workspace_id, created_at, id);
CREATE INDEX connection_canceling ON public.connection USING btree (id) WHERE (cancel_through IS NOT NULL);
CREATE INDEX connection_deleted ON public.connection USING btree (id) WHERE (deleted_at IS NOT NULL);
CREATE UNIQUE INDEX connection_identity ON public.connection USING btree (workspace_id, provider, identity_key);
CREATE INDEX connection_live ON public.connection USING btree (workspace_id, created_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX connection_unready ON public.connection USING btree (workspace_id, health_since) WHERE ((health <> 'ready'::text) AND (deleted_at IS NULL));
CREATE TRIGGER connection_has_members AFTER UPDATE OF health, cancel_through ON public.connection FOR EACH ROW WHEN (((new.cancel_through IS NULL) AND (new.deleted_at IS NULL) AND ((new.health IS DISTINCT FROM old.health) OR (old.cancel_through IS NOT NULL)))) EXECUTE FUNCTION activate_members();
CREATE TRIGGER connection_health_noted BEFORE UPDATE OF health ON public.connection FOR EACH ROW WHEN ((new.health IS DISTINCT FROM old.health)) EXECUTE FUNCTION note_health();
CREATE TRIGGER connection_health_told AFTER UPDATE OF health ON public.connection FOR EACH ROW WHEN ((new.health IS DISTINCT FROM old.health)) EXECUTE FUNCTION announce_health();
CREATE TRIGGER connection_joins AFTER INSERT ON public.connection FOR EACH ROW EXECUTE FUNCTION join_workspace_subscriptions();

create table console_session (
  token_hash bytea not null,
  key_id uuid,
  operator_id uuid,
  created_at timestamp with time zone not null default now(),
  last_seen_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  address text not null,
  user_agent text not null,
  revoked_at timestamp with time zone,
  constraint console_session_pkey PRIMARY KEY (token_hash),
  constraint console_session_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id) ON DELETE CASCADE,
  constraint console_session_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operator(id) ON DELETE CASCADE,
  constraint console_session_holder CHECK ((num_nonnulls(key_id, operator_id) = 1))
);
CREATE INDEX console_session_by_expiry ON public.console_session USING btree (expires_at);
CREATE INDEX console_session_by_holder ON public.console_session USING btree (COALESCE(key_id, operator_id), created_at);

create table delivery (
  id uuid not null,
  workspace_id uuid not null,
  subscription_id uuid not null,
  event_id uuid not null,
  partition smallint not null,
  status text not null,
  attempt_count integer not null default 0,
  series_attempts integer not null default 0,
  replay_count integer not null default 0,
  epoch bigint,
  next_attempt_at timestamp with time zone,
  delivered_at timestamp with time zone,
  last_error text,
  rank bigint not null,
  parent_id uuid,
  attempt_id uuid,
  attempt_started_at timestamp with time zone,
  constraint delivery_pkey PRIMARY KEY (id),
  constraint delivery_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE,
  constraint delivery_check CHECK (((status = 'delivered'::text) = (delivered_at IS NOT NULL))),
  constraint delivery_check1 CHECK (((status <> 'sending'::text) OR (epoch IS NOT NULL))),
  constraint delivery_check2 CHECK (((status = 'pending'::text) OR (next_attempt_at IS NULL))),
  constraint delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'sending'::text, 'delivered'::text, 'failed'::text, 'canceled'::text])))
);
CREATE UNIQUE INDEX delivery_by_rank ON public.delivery USING btree (subscription_id, rank);
CREATE INDEX delivery_by_status ON public.delivery USING btree (subscription_id, status, event_id);
CREATE INDEX delivery_due ON public.delivery USING btree (subscription_id, next_attempt_at, event_id) WHERE (status = 'pending'::text);
CREATE INDEX delivery_exhausted ON public.delivery USING btree (workspace_id, COALESCE(parent_id, subscription_id), id) WHERE (status = 'failed'::text);
CREATE INDEX delivery_live ON public.delivery USING btree (partition) WHERE (status = 'sending'::text);
CREATE INDEX delivery_of_parent ON public.delivery USING btree (parent_id, status, event_id) WHERE (parent_id IS NOT NULL);
CREATE TRIGGER delivery_exhaustion_told AFTER UPDATE OF status ON public.delivery FOR EACH ROW WHEN (((new.status = 'failed'::text) AND (old.status <> 'failed'::text))) EXECUTE FUNCTION announce_exhaustion();

create table delivery_attempt (
  id uuid not null,
  delivery_id uuid not null,
  sequence integer not null,
  outcome text not null,
  status_code integer,
  error text,
  started_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  constraint delivery_attempt_pkey PRIMARY KEY (id),
  constraint delivery_attempt_delivery_id_sequence_key UNIQUE (delivery_id, sequence),
  constraint delivery_attempt_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES delivery(id) ON DELETE CASCADE,
  constraint delivery_attempt_outcome_check CHECK ((outcome = ANY (ARRAY['sending'::text, 'delivered'::text, 'failed'::text, 'canceled'::text, 'abandoned'::text])))
);

create table erased_deliveries (
  subscription_id uuid not null,
  deliveries bigint not null,
  constraint erased_deliveries_pkey PRIMARY KEY (subscription_id),
  constraint erased_deliveries_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE
);

create table erasure_receipt (
  id uuid not null,
  kind text not null,
  connection_id uuid,
  salt bytea,
  person_hash bytea,
  workspace_id uuid,
  requested_at timestamp with time zone not null default now(),
  completed_at timestamp with time zone,
  erased jsonb not null default '{}'::jsonb,
  remaining jsonb not null default '{}'::jsonb,
  rewritten boolean not null default false,
  constraint erasure_receipt_pkey PRIMARY KEY (id),
  constraint erasure_receipt_check CHECK (((kind = 'connection'::text) = (connection_id IS NOT NULL))),
  constraint erasure_receipt_check1 CHECK (((kind = 'person'::text) = ((salt IS NOT NULL) AND (person_hash IS NOT NULL)))),
  constraint erasure_receipt_kind_check CHECK ((kind = ANY (ARRAY['connection'::text, 'person'::text])))
);

create table event (
  id uuid not null,
  workspace_id uuid not null,
  connection_id uuid not null,
  provider_event_id text not null,
  type text not null,
  received_at timestamp with time zone not null default date_trunc('milliseconds'::text, now()),
  data jsonb,
  data_sealed bytea,
  conversation_hash bytea,
  delivered_ms bigint,
  traceparent text,
  constraint event_pkey PRIMARY KEY (id),
  constraint event_connection_id_provider_event_id_key UNIQUE (connection_id, provider_event_id),
  constraint event_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id) ON DELETE CASCADE,
  constraint event_has_data CHECK ((num_nonnulls(data, data_sealed) = 1))
);
CREATE INDEX event_by_connection ON public.event USING btree (connection_id, id);
CREATE INDEX event_conversation ON public.event USING btree (connection_id, conversation_hash, id) WHERE (conversation_hash IS NOT NULL);
CREATE INDEX event_message ON public.event USING btree (connection_id, "left"((data ->> 'conversation_id'::text), 255), id) WHERE ((data IS NOT NULL) AND (type = ANY (ARRAY['message_sent'::text, 'message_received'::text])));

create table event_list (
  connection_id uuid not null,
  event_count bigint not null,
  id_floor uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  constraint event_list_pkey PRIMARY KEY (connection_id),
  constraint event_list_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id) ON DELETE CASCADE
) with (fillfactor=50);

create table event_position (
  connection_id uuid not null,
  rank bigint not null,
  event_id uuid not null,
  constraint event_position_pkey PRIMARY KEY (connection_id, rank),
  constraint event_position_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id) ON DELETE CASCADE
);

create table former_secret (
  id uuid not null default gen_random_uuid(),
  subscription_id uuid not null,
  secret_sealed bytea not null,
  valid_until timestamp with time zone not null,
  constraint former_secret_pkey PRIMARY KEY (id),
  constraint former_secret_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE
);
CREATE INDEX former_secret_by_subscription ON public.former_secret USING btree (subscription_id, valid_until);

create table idempotency_tombstone (
  workspace_id uuid not null,
  key_hash bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_tombstone_pkey PRIMARY KEY (workspace_id, key_hash),
  constraint idempotency_tombstone_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
);
CREATE INDEX idempotency_tombstone_by_creation ON public.idempotency_tombstone USING btree (created_at);

create table installation (
  id boolean not null default true,
  fingerprint_secret bytea,
  created_at timestamp with time zone not null default now(),
  fingerprint_secret_sealed bytea,
  constraint installation_pkey PRIMARY KEY (id),
  constraint installation_fingerprint_secret_check CHECK ((length(fingerprint_secret) = 32)),
  constraint installation_has_fingerprint_secret CHECK (((fingerprint_secret IS NOT NULL) OR (fingerprint_secret_sealed IS NOT NULL))),
  constraint installation_id_check CHECK (id)
);

create table installation_key (
  key_id text not null,
  check_value bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint installation_key_pkey PRIMARY KEY (key_id),
  constraint installation_key_check_value_check CHECK ((length(check_value) = 32))
);

create table listener (
  connection_id uuid not null,
  stream_status text not null,
  status text not null,
  reason text,
  continuity_status text not null,
  epoch bigint not null,
  last_event_id text,
  last_event_at timestamp with time zone,
  last_frame_at timestamp with time zone,
  last_confirmed_at timestamp with time zone,
  heartbeat_at timestamp with time zone,
  constraint listener_pkey PRIMARY KEY (connection_id),
  constraint listener_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id) ON DELETE CASCADE,
  constraint listener_continuity_status_check CHECK ((continuity_status = ANY (ARRAY['continuous'::text, 'gap_open'::text, 'unknown'::text]))),
  constraint listener_stream_status_check CHECK ((stream_status = ANY (ARRAY['stopped'::text, 'connecting'::text, 'connected'::text, 'degraded'::text])))
);

create table listener_gap (
  id uuid not null,
  connection_id uuid not null,
  reason text not null,
  last_event_id text,
  started_at timestamp with time zone not null default now(),
  closed_at timestamp with time zone,
  constraint listener_gap_pkey PRIMARY KEY (id),
  constraint listener_gap_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id) ON DELETE CASCADE
);
CREATE INDEX listener_gap_by_connection ON public.listener_gap USING btree (connection_id, started_at DESC);
CREATE UNIQUE INDEX listener_gap_open ON public.listener_gap USING btree (connection_id) WHERE (closed_at IS NULL);

create table look_request (
  operation_id uuid not null,
  id uuid not null,
  workspace_id uuid not null,
  connection_id uuid not null,
  partition smallint not null,
  requested_at timestamp with time zone not null default now(),
  constraint look_request_pkey PRIMARY KEY (operation_id),
  constraint look_request_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES operation(id) ON DELETE CASCADE
);
CREATE INDEX look_request_by_partition ON public.look_request USING btree (partition, connection_id, requested_at);

create table node (
  id uuid not null,
  started_at timestamp with time zone not null default now(),
  heartbeat_at timestamp with time zone not null default now(),
  backlog jsonb not null default '{}'::jsonb,
  constraint node_pkey PRIMARY KEY (id)
);

create table operation (
  id uuid not null,
  workspace_id uuid not null,
  connection_id uuid not null,
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
  attempts jsonb not null default '[]'::jsonb,
  timeline jsonb not null default '[]'::jsonb,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  result_sealed bytea,
  evidence jsonb,
  evidence_look jsonb,
  evidence_look_sealed bytea,
  request_id text,
  traceparent text,
  input_erased_at timestamp with time zone,
  result_erased_at timestamp with time zone,
  looked_at timestamp with time zone,
  constraint operation_pkey PRIMARY KEY (id),
  constraint operation_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id) ON DELETE CASCADE,
  constraint operation_check CHECK (((status = 'waiting_user'::text) = (challenge IS NOT NULL))),
  constraint operation_check1 CHECK (((status <> ALL (ARRAY['running'::text, 'waiting_user'::text])) OR (epoch IS NOT NULL))),
  constraint operation_check2 CHECK (((status = 'failed'::text) = (error_code IS NOT NULL))),
  constraint operation_has_evidence CHECK (((evidence IS NULL) OR (status = 'outcome_unknown'::text))),
  constraint operation_has_input CHECK ((num_nonnulls(input, input_sealed) =
CASE
    WHEN (input_erased_at IS NULL) THEN 1
    ELSE 0
END)),
  constraint operation_has_result CHECK (((status <> 'succeeded'::text) OR (num_nonnulls(result, result_sealed) =
CASE
    WHEN (result_erased_at IS NULL) THEN 1
    ELSE 0
END))),
  constraint operation_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'waiting_user'::text, 'succeeded'::text, 'failed'::text, 'canceled'::text, 'skipped'::text, 'outcome_unknown'::text])))
) with (fillfactor=30);
CREATE INDEX operation_by_connection ON public.operation USING btree (connection_id, id);
CREATE INDEX operation_by_workspace ON public.operation USING btree (workspace_id, id);
CREATE UNIQUE INDEX operation_idempotency ON public.operation USING btree (workspace_id, idempotency_key);
CREATE TRIGGER operation_finish_told AFTER UPDATE OF status ON public.operation FOR EACH ROW WHEN (((new.status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'canceled'::text, 'skipped'::text, 'outcome_unknown'::text])) AND (old.status <> new.status))) EXECUTE FUNCTION announce_finish();
CREATE TRIGGER operation_unknown AFTER UPDATE OF status, evidence_look, evidence_look_sealed ON public.operation FOR EACH ROW WHEN ((new.status = 'outcome_unknown'::text)) EXECUTE FUNCTION note_unknown_outcome();
CREATE TRIGGER operation_waiting AFTER UPDATE OF status ON public.operation FOR EACH ROW WHEN (((old.status <> new.status) AND (('waiting_user'::text = old.status) OR ('waiting_user'::text = new.status)))) EXECUTE FUNCTION note_waiting_operation();
CREATE TRIGGER operation_waits_told AFTER UPDATE OF status, challenge ON public.operation FOR EACH ROW WHEN (((new.status = 'waiting_user'::text) AND ((new.challenge -> 'id'::text) IS DISTINCT FROM (old.challenge -> 'id'::text)))) EXECUTE FUNCTION announce_wait();

create table operation_file (
  operation_id uuid not null,
  attempt_id uuid not null,
  part integer not null,
  bytes bytea storage external not null,
  sealed boolean not null default false,
  constraint operation_file_pkey PRIMARY KEY (operation_id, attempt_id, part),
  constraint operation_file_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES operation(id) ON DELETE CASCADE,
  constraint operation_file_part_check CHECK ((part >= 0))
);

create table operator (
  id uuid not null,
  name text not null,
  key_hash bytea not null,
  prefix text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  last_used_from text,
  revoked_at timestamp with time zone,
  networks text[],
  constraint operator_pkey PRIMARY KEY (id),
  constraint operator_key_hash_key UNIQUE (key_hash)
);

create table overview_step (
  workspace_id uuid,
  step timestamp with time zone not null,
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
  constraint overview_step_key UNIQUE NULLS NOT DISTINCT (workspace_id, step, node_id)
);
CREATE INDEX overview_step_by_time ON public.overview_step USING btree (step);

create table partition (
  id smallint not null,
  epoch bigint not null default 0,
  node_id uuid,
  lease_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint partition_pkey PRIMARY KEY (id),
  constraint partition_id_epoch_key UNIQUE (id, epoch),
  constraint partition_id_check CHECK (((id >= 0) AND (id <= 63)))
);

create table reconnect_link (
  connection_id uuid not null,
  id uuid not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  page_hash bytea,
  tries integer not null default 0,
  operation_id uuid,
  password_sealed bytea,
  constraint reconnect_link_pkey PRIMARY KEY (connection_id),
  constraint reconnect_link_id_key UNIQUE (id),
  constraint reconnect_link_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id) ON DELETE CASCADE,
  constraint reconnect_link_page_hash_check CHECK ((length(page_hash) = 32))
);
CREATE INDEX reconnect_link_given ON public.reconnect_link USING btree (expires_at) WHERE (password_sealed IS NOT NULL);

create table regional_proxy (
  id uuid not null,
  region text not null,
  url text not null,
  credentials_sealed bytea,
  active boolean not null default true,
  created_at timestamp with time zone not null default now(),
  failing_since timestamp with time zone,
  failure text,
  constraint regional_proxy_pkey PRIMARY KEY (id),
  constraint regional_proxy_region_check CHECK ((region ~ '^[A-Z]{2}$'::text))
);
CREATE INDEX regional_proxy_by_region ON public.regional_proxy USING btree (region) WHERE active;

create table retention_passed (
  class text not null,
  operation_id uuid not null,
  looked_at timestamp with time zone not null default now(),
  constraint retention_passed_pkey PRIMARY KEY (class, operation_id),
  constraint retention_passed_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES operation(id) ON DELETE CASCADE
);
CREATE INDEX retention_passed_by_look ON public.retention_passed USING btree (class, looked_at);
CREATE INDEX retention_passed_by_operation ON public.retention_passed USING btree (operation_id);

create table retention_turn (
  id boolean not null default true,
  class text,
  after text,
  due_at timestamp with time zone not null default now(),
  through jsonb not null default '{}'::jsonb,
  marks jsonb not null default '{}'::jsonb,
  begun_at timestamp with time zone,
  round_at timestamp with time zone,
  came_ms double precision,
  worked_ms double precision not null default 0,
  share double precision,
  constraint retention_turn_pkey PRIMARY KEY (id),
  constraint retention_turn_id_check CHECK (id)
);

create table schema_migration (
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null default now(),
  compatible boolean not null default false,
  constraint schema_migration_pkey PRIMARY KEY (name)
);

create table simulated_invitation (
  operation_id uuid not null,
  connection_id uuid not null,
  recipient text not null,
  sent_at timestamp with time zone not null default now(),
  accepted boolean not null default false,
  constraint simulated_invitation_pkey PRIMARY KEY (operation_id),
  constraint simulated_invitation_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id) ON DELETE CASCADE
);
CREATE INDEX simulated_invitation_by_connection ON public.simulated_invitation USING btree (connection_id, operation_id);
CREATE INDEX simulated_invitation_by_recipient ON public.simulated_invitation USING btree (connection_id, recipient);

create table stored_turn (
  id boolean not null default true,
  workspace_id uuid,
  until uuid,
  after uuid,
  found bigint not null default 0,
  due_at timestamp with time zone not null default now(),
  entries_at timestamp with time zone,
  entries_id uuid,
  constraint stored_turn_pkey PRIMARY KEY (id),
  constraint stored_turn_id_check CHECK (id)
);

create table subscription (
  id uuid not null,
  workspace_id uuid not null,
  connection_id uuid,
  partition smallint,
  event_types text[] not null,
  callback_url text,
  active boolean not null,
  secret_sealed bytea,
  created_at timestamp with time zone not null default now(),
  delivery_count bigint not null default 0,
  destination bytea,
  verified boolean not null default false,
  callback_url_sealed bytea,
  on_hold boolean not null default false,
  parent_id uuid,
  deleted_at timestamp with time zone,
  settled_at timestamp with time zone,
  settled_id uuid,
  held_at timestamp with time zone,
  awaits_ready boolean not null default false,
  constraint subscription_pkey PRIMARY KEY (id),
  constraint subscription_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id) ON DELETE CASCADE,
  constraint subscription_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES subscription(id),
  constraint subscription_awaits_ready CHECK (((NOT awaits_ready) OR (parent_id IS NOT NULL))),
  constraint subscription_event_types_check CHECK ((cardinality(event_types) > 0)),
  constraint subscription_has_callback_url CHECK ((num_nonnulls(callback_url, callback_url_sealed) =
CASE
    WHEN (parent_id IS NULL) THEN 1
    ELSE 0
END)),
  constraint subscription_has_secret CHECK (((secret_sealed IS NULL) = (parent_id IS NOT NULL))),
  constraint subscription_is_owned CHECK ((((connection_id IS NULL) = (partition IS NULL)) AND ((connection_id IS NOT NULL) OR (parent_id IS NULL))))
);
CREATE INDEX subscription_active_destination ON public.subscription USING btree (workspace_id, destination) WHERE (active AND (parent_id IS NULL));
CREATE INDEX subscription_by_connection ON public.subscription USING btree (connection_id, created_at, id);
CREATE INDEX subscription_by_destination ON public.subscription USING btree (connection_id, destination);
CREATE INDEX subscription_deleted ON public.subscription USING btree (id) WHERE (deleted_at IS NOT NULL);
CREATE INDEX subscription_held ON public.subscription USING btree (workspace_id, held_at) WHERE ((held_at IS NOT NULL) AND active AND (deleted_at IS NULL));
CREATE INDEX subscription_listed ON public.subscription USING btree (workspace_id, created_at, id) WHERE ((parent_id IS NULL) AND (deleted_at IS NULL));
CREATE INDEX subscription_listed_by_activity ON public.subscription USING btree (workspace_id, active, created_at, id) WHERE ((parent_id IS NULL) AND (deleted_at IS NULL));
CREATE UNIQUE INDEX subscription_member ON public.subscription USING btree (parent_id, connection_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX subscription_of_workspace ON public.subscription USING btree (workspace_id) WHERE (connection_id IS NULL);
CREATE INDEX subscription_told ON public.subscription USING btree (connection_id) WHERE (active AND (event_types && '{operation.finished,delivery.exhausted}'::text[]));
CREATE INDEX subscription_unsettled ON public.subscription USING btree (id) WHERE (settled_at IS NOT NULL);
CREATE TRIGGER note_hold BEFORE UPDATE OF on_hold ON public.subscription FOR EACH ROW WHEN ((new.on_hold IS DISTINCT FROM old.on_hold)) EXECUTE FUNCTION note_hold();
CREATE TRIGGER subscription_added AFTER INSERT ON public.subscription REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_new_subscriptions();
CREATE TRIGGER subscription_deleted AFTER UPDATE OF deleted_at ON public.subscription FOR EACH ROW WHEN (((old.deleted_at IS NULL) AND (new.deleted_at IS NOT NULL))) EXECUTE FUNCTION count_deleted_subscription();
CREATE TRIGGER subscription_gone AFTER DELETE ON public.subscription REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_gone_subscriptions();

create table subscription_count (
  workspace_id uuid not null,
  subscriptions bigint not null,
  constraint subscription_count_pkey PRIMARY KEY (workspace_id),
  constraint subscription_count_subscriptions_check CHECK ((subscriptions >= 0))
);

create table unknown_outcome (
  operation_id uuid not null,
  partition smallint not null,
  since timestamp with time zone not null default now(),
  workspace_id uuid not null,
  constraint unknown_outcome_pkey PRIMARY KEY (operation_id),
  constraint unknown_outcome_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES operation(id) ON DELETE CASCADE
);
CREATE INDEX unknown_outcome_by_partition ON public.unknown_outcome USING btree (partition, since);
CREATE INDEX unknown_outcome_by_workspace ON public.unknown_outcome USING btree (workspace_id, since);

create table waiting_operation (
  operation_id uuid not null,
  workspace_id uuid not null,
  since timestamp with time zone not null default now(),
  connection_id uuid not null,
  constraint waiting_operation_pkey PRIMARY KEY (operation_id),
  constraint waiting_operation_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES operation(id) ON DELETE CASCADE
);
CREATE INDEX waiting_operation_by_connection ON public.waiting_operation USING btree (connection_id, operation_id);
CREATE INDEX waiting_operation_by_workspace ON public.waiting_operation USING btree (workspace_id, since);
CREATE INDEX waiting_operation_listed ON public.waiting_operation USING btree (workspace_id, operation_id);

create table workspace (
  id uuid not null,
  name text not null,
  created_at timestamp with time zone not null default now(),
  constraint workspace_pkey PRIMARY KEY (id)
);
CREATE INDEX workspace_by_creation ON public.workspace USING btree (created_at, id);

create table workspace_limit (
  workspace_id uuid not null,
  name text not null,
  value bigint not null,
  constraint workspace_limit_pkey PRIMARY KEY (workspace_id, name),
  constraint workspace_limit_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE,
  constraint workspace_limit_value_check CHECK ((value > 0))
);

create table workspace_rate (
  workspace_id uuid not null,
  rate text not null,
  node_id uuid not null,
  asked double precision not null,
  share double precision not null,
  noted_at timestamp with time zone not null default now(),
  constraint workspace_rate_pkey PRIMARY KEY (workspace_id, rate, node_id)
) with (fillfactor=50);

create table workspace_stored (
  workspace_id uuid not null,
  bytes bigint not null default 0,
  noted bigint not null default 0,
  measured_at timestamp with time zone,
  constraint workspace_stored_pkey PRIMARY KEY (workspace_id),
  constraint workspace_stored_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON DELETE CASCADE
) with (fillfactor=50);

create view audit.part as
 SELECT replace(substr((c.relname)::text, 7), '_'::text, '-'::text) AS name,
    (c.oid)::regclass AS relation,
    r.since,
    r.until,
    ((COALESCE(r.until, audit.newest_in_rest()) > (now() - '1 day'::interval)) IS TRUE) AS open
   FROM (((pg_inherits i
     JOIN pg_class c ON ((c.oid = i.inhrelid)))
     CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) bound(bound))
     CROSS JOIN LATERAL ( SELECT ((regexp_match(bound.bound, 'FROM \(''([^'']+)''\)'::text))[1])::timestamp with time zone AS since,
            ((regexp_match(bound.bound, 'TO \(''([^'']+)''\)'::text))[1])::timestamp with time zone AS until) r)
  WHERE (i.inhparent = ('audit.entry'::regclass)::oid);

CREATE OR REPLACE FUNCTION public.activate_members()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update subscription s set active = true, awaits_ready = new.health <> 'ready' from subscription w
  where s.connection_id = new.id and s.parent_id = w.id and w.active and (not s.active or s.awaits_ready and new.health = 'ready');
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.announce_exhaustion()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.announce_finish()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from subscription s where s.connection_id = new.connection_id and s.active
      and s.event_types && '{operation.finished,delivery.exhausted}' and 'operation.finished' = any(s.event_types)) then
    insert into announcement (workspace_id, connection_id, type, provider_event_id, data, traceparent)
    values (new.workspace_id, new.connection_id, 'operation.finished', 'operation.finished/' || new.id,
      jsonb_build_object('operation_id', new.id, 'capability', new.capability, 'status', new.status, 'error_code', new.error_code),
      new.traceparent);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.announce_health()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into announcement (workspace_id, connection_id, type, provider_event_id, data)
  values (new.workspace_id, new.id, 'connection.' || new.health, 'connection.' || new.health || '/' || gen_random_uuid(),
    jsonb_build_object('health', new.health, 'previous_health', old.health, 'reason', new.health_reason, 'state_revision', new.state_revision));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.announce_wait()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into announcement (workspace_id, connection_id, type, provider_event_id, data, traceparent)
  values (new.workspace_id, new.connection_id, 'operation.waiting_user', 'operation.waiting_user/' || (new.challenge ->> 'id'),
    jsonb_build_object('operation_id', new.id, 'capability', new.capability, 'challenge', jsonb_build_object('id', new.challenge -> 'id',
      'kind', new.challenge -> 'kind', 'expires_at', new.challenge -> 'expires_at', 'accepts_code', new.challenge -> 'accepts_code')),
    new.traceparent);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.count_deleted_subscription()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update subscription_count set subscriptions = subscriptions - 1 where workspace_id = new.workspace_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.count_gone_subscriptions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update subscription_count c set subscriptions = c.subscriptions - d.subscriptions
  from (select workspace_id, count(*) as subscriptions from changed where parent_id is null and deleted_at is null group by workspace_id) d
  where c.workspace_id = d.workspace_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.count_new_subscriptions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into subscription_count as c (workspace_id, subscriptions)
  select workspace_id, count(*) from changed where parent_id is null group by workspace_id order by workspace_id
  on conflict (workspace_id) do update set subscriptions = c.subscriptions + excluded.subscriptions;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.join_workspace_subscriptions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.note_health()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.health_since = now();
  if new.health_reason is not distinct from old.health_reason then new.health_reason = null; end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.note_hold()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.held_at := case when new.on_hold then now() end;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.note_unknown_outcome()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if num_nonnulls(new.evidence_look, new.evidence_look_sealed, new.looked_at) = 0 then
    insert into unknown_outcome (operation_id, workspace_id, partition) values (new.id, new.workspace_id, new.partition)
    on conflict do nothing;
  else
    delete from unknown_outcome where operation_id = new.id;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.note_waiting_operation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.status = 'waiting_user' then
    insert into waiting_operation (operation_id, workspace_id, connection_id) values (new.id, new.workspace_id, new.connection_id)
    on conflict do nothing;
  else
    delete from waiting_operation where operation_id = new.id;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION audit.drop_part(part text, entries bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '1s'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION audit.make_parts()
 RETURNS SETOF text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '1s'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION audit.newest_in_rest()
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return (select max(at) from audit.entry_rest);
end $function$;

CREATE OR REPLACE FUNCTION audit.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end $function$;
