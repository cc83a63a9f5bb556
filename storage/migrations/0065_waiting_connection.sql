-- compatible
-- The operation that waits for its user is found by its connection, and those of a workspace in the order of their list, however many others
-- there are. The table has a row for each that waits now, and is locked for a moment; a trigger fills the column in, whichever version writes.
alter table waiting_operation add column connection_id uuid;
update waiting_operation w set connection_id = o.connection_id from operation o where o.id = w.operation_id;
create index waiting_operation_by_connection on waiting_operation (connection_id, operation_id);
create index waiting_operation_listed on waiting_operation (workspace_id, operation_id);

create or replace function note_waiting_operation() returns trigger language plpgsql as $$
begin
  if new.status = 'waiting_user' then
    insert into waiting_operation (operation_id, workspace_id, connection_id) values (new.id, new.workspace_id, new.connection_id)
    on conflict do nothing;
  else
    delete from waiting_operation where operation_id = new.id;
  end if;
  return null;
end $$;
