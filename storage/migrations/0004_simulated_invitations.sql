-- Invitations that simulated connections have sent, beside their operations: an index of operation that names its status or
-- result makes every change of status of every operation write to all the indexes (no HOT update is possible then).
create table simulated_invitation (
  operation_id uuid primary key,
  connection_id uuid not null references connection on delete cascade,
  recipient text not null,
  sent_at timestamptz not null default now()
);
create index simulated_invitation_by_connection on simulated_invitation (connection_id, operation_id);
create index simulated_invitation_by_recipient on simulated_invitation (connection_id, recipient);

insert into simulated_invitation (operation_id, connection_id, recipient, sent_at)
select o.id, o.connection_id, o.result ->> 'recipient_actor_id', o.updated_at
from operation o join connection c on c.id = o.connection_id
where c.provider = 'simulated' and o.capability = 'social.invitation.send' and o.status = 'succeeded';

drop index operation_invitation_recipient;
drop index operation_invitation;
