/** Letters and what old names have beside them; the database allows no more in a part of a name. */
const part = /^(?!\.\.?$)(?!-)[A-Za-z._0-9+-]{1,14}$/;

/** Whether a text is built as the name of a time zone: `Europe/Paris`. */
export function isTimeZoneForm(name: string): boolean {
  return name.split('/').every((text) => part.test(text));
}

/** Whether there is such a time zone. Names are told apart by case, as in a file system, which is where others look them up. */
export function isTimeZone(name: string): boolean {
  const canonical = canonicalName(name);
  if (canonical === undefined) return false;
  // An alias has another canonical name; of it only the form is known.
  return canonical.toLowerCase() === name.toLowerCase() ? canonical === name : name.split('/').every((text) => /^[A-Z]/.test(text));
}

function canonicalName(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined; // a RangeError is all that it throws
  }
}
