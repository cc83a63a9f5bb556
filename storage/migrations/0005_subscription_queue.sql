-- The delivery queues hold one job a subscription instead of one a delivery; its owner claims what is due from this index.
create index delivery_due on delivery (subscription_id, next_attempt_at, event_id) where status = 'pending';

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
