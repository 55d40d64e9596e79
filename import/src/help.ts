/** The output of `--help`. */
export const HELP = `Imports a person's donation history from a CSV file.

  npm run import -- --account NAME [options] file.csv

Examples:
  npm run import -- --account ada --timezone Europe/Berlin --currency eur donations.csv
  npm run import -- --account ada --source import_source_1 --dates mdy \\
    --column amount="Gift amount" --column name="From whom" export.csv
  Keep only paid donations of Stripe, and of PayPal:
  npm run import -- --account ada --only "Status=Paid" payments.csv
  npm run import -- --account ada --timezone Europe/Berlin --only "Status=Completed" \\
    --only "Type=Donation Payment" paypal.csv

Options:
  --account NAME        Whose donations these are: the account's username or id. Required.
  --source SOURCE       Where they come from: csv (default) or import_source_1 to import_source_4.
  --timezone ZONE       The time zone of dates without an offset from UTC, such as Europe/Berlin.
                        A time that the clocks skip in spring is refused; of one that they show
                        twice in autumn, the first is taken. A date alone is the start of that day.
                        Not used for dates whose header ends with (UTC).
  --currency CODE       The currency of rows that name none, such as eur; also settles signs that
                        several currencies share, such as $.
  --decimal MARK        comma or point: what begins the decimals. Without it the other amounts of
                        the file decide what 1,234 means; where they do not, it is refused.
  --dates ORDER         dmy or mdy: what 02/03/2024 means. Without it such a date is refused.
  --column ROLE="NAME"  The column for a role, where its name is not recognized; "" for none.
                        Roles: id, amount, amount_cents, currency, name, message, date, time.
  --only "COLUMN=VALUE" Imports only rows with this value in this column, in any case. If given
                        several times, a row must match all.
  --refused FILE        A new file for refused rows; by default file.refused.csv beside the file.
  -h, --help            Prints this.

The file is UTF-8, with a header line, and cells separated by semicolons, commas or tabs. It needs
a column for the amount and one for the date; time, id, currency, name and message are
optional. Amounts may be written 1.234,56 or 1,234.56 or 1 234,56 €, and are never rounded. Dates
may be written 2024-01-31T12:05:59.123456Z, 2024-01-31 12:05, 31.01.2024 12:05, 31/01/2024 12:05,
or as Unix seconds or milliseconds. A status or a type is not read: choose rows with --only, and
leave refunds out. Import only donations from before the account was connected, or the feed shows
them twice.

Importing a file again with the same options stores nothing twice: rows are known by their id or,
where the file has none, by what they say. Refused rows are written to a file with the reason beside
each. If a reason names an option, import the same file again with it and all earlier ones. Correct
all other refused rows in their file, and import that file. Do not correct them in the original and
import that again, because rows without an id may then be stored twice or not at all. Leave these
rows out of later exports.
A row is refused if a stored donation has its id and says something else. If it is that donation,
leave it out: the options or the name changed since. If these are no ids, but campaigns or numbers
of rows, import the refused rows with --column id="", and no later export that has these rows again:
they would be stored twice.

The core is found at CORE_URL with the credential SERVICE_CREDENTIAL (permissions donation.import
and account.read; one that is for one account only imports by that account's id); without them,
the one that npm start ran on this machine is used.

Exit status: 0 all rows are stored, 2 some were refused, 1 the import failed.
`;
