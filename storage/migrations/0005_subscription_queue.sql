-- The delivery queues hold one job a subscription instead of one a delivery; its owner claims what is due from this index.
create index delivery_due on delivery (subscription_id, next_attempt_at, event_id) where status = 'pending';

-- A delivery changes its status twice at least, and each time every index takes a new entry: those that others can stand in for go.
-- The status index finds a delivery by its event as well; and events go with their connection, as deliveries do with its subscriptions.
drop index delivery_by_subscription;
drop index delivery_by_event;
alter table delivery drop constraint delivery_event_id_fkey;
-- An attempt is closed in its own page, without new index entries.
alter table delivery_attempt set (fillfactor = 60);

do $$
begin
  -- The queues are made after the first start's migrations.
  if to_regclass('pgboss.job_common') is not null then
    delete from pgboss.job_common where name like 'delivery-%';
    insert into pgboss.job_common (id, name, state, start_after, expire_seconds, keep_until)
    select subscription_id, 'delivery-' || partition, 'created', now(), 2147483647, now() + interval '60 years'
    from delivery where status in ('pending', 'sending') group by subscription_id, partition;
  end if;
end
$$;
