-- What the simulated network remembers is what operations and events left behind: these find it by index.

-- Messages of one conversation, newest last. left(): an index entry must stay small whatever an event carries.
create index event_message on event (connection_id, left(data ->> 'conversation_id', 255), id)
  where type in ('message_sent', 'message_received');

-- Invitations that simulated connections have sent, beside their operations: an index of operation that names its status or
-- result would make every change of status of every operation write to all the indexes (no HOT update is possible then).
create table simulated_invitation (
  operation_id uuid primary key,
  connection_id uuid not null references connection on delete cascade,
  recipient text not null,
  sent_at timestamptz not null default now()
);
create index simulated_invitation_by_connection on simulated_invitation (connection_id, operation_id);
create index simulated_invitation_by_recipient on simulated_invitation (connection_id, recipient);
