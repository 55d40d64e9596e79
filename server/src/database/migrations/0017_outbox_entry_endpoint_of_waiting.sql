-- The entries that wait already learn their endpoint.
UPDATE outbox_entry o JOIN delivery d ON d.delivery_no = o.delivery_no
SET o.endpoint_id = d.endpoint_id
WHERE o.endpoint_id = '';
