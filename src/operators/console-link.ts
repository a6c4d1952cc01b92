/** Address of the console's page about a record that waits; of the whole inbox for null. */
export type ConsoleLink = (id: string | null) => string

/** `base` is where people open the server in a browser, without a slash at the end. */
export const createConsoleLink =
  (base: string): ConsoleLink =>
  (id) =>
    id === null ? `${base}/console/inbox` : `${base}/console/inbox/${id}`
