-- Entries of deliveries that were removed for their age: no relay could ever hand them over.
DELETE o FROM outbox_entry o LEFT JOIN delivery d ON d.delivery_no = o.delivery_no
WHERE d.delivery_no IS NULL;
