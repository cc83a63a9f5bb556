-- What the simulated network remembers is what operations and events left behind: these find it by index.

-- Messages of one conversation, newest last. left(): an index entry must stay small whatever an event carries.
create index event_message on event (connection_id, left(data ->> 'conversation_id', 255), id)
  where type in ('message_sent', 'message_received');

-- Invitations a connection has sent: by recipient, and in order.
create index operation_invitation_recipient on operation (connection_id, (result ->> 'recipient_actor_id'))
  where capability = 'social.invitation.send' and status = 'succeeded';
create index operation_invitation on operation (connection_id, id)
  where capability = 'social.invitation.send' and status = 'succeeded';
