-- compatible
-- Finds the messages of a conversation, sealed or not. Each index reads the table once, under a lock that holds up its writers and
-- no reader. Statements of former versions go on using event_message: what they compare is null where data is.
create index event_conversation on event (connection_id, conversation_hash, id) where conversation_hash is not null;
create index event_plain_message on event (connection_id, left(data ->> 'conversation_id', 255), id)
  where data is not null and type in ('message_sent', 'message_received');
drop index event_message;
alter index event_plain_message rename to event_message;
