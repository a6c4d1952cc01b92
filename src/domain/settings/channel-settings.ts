// What the server's settings say about the ways to reach operators.

/** Complete and checked. */
export interface ChannelSettings {
  /** Where people open this server in a browser, without a slash at the end. Null: at the address that it listens on. */
  publicUrl: string | null
  /** What each kind of channel has made of its own settings, by its name. Only that kind knows what it is. */
  own: Readonly<Record<string, unknown>>
}

export const notifyKinds = ['approval', 'prompt', 'wait', 'stall', 'session'] as const
/** What people can be told about. `wait`: an agent waits for an instruction. `session`: an agent begins, ends or is paused. */
export type NotifyKind = (typeof notifyKinds)[number]

export interface NotifySettings {
  kinds: readonly NotifyKind[]
  /** Nothing but what is critical is told in these hours. It is told after them, if it still waits. */
  quietHours: QuietHours | null
  /** What comes within this time is told together. Null: each by itself, at once. */
  digestMs: number | null
}

export interface QuietHours {
  /** Minutes since midnight. If `from` is later than `to`, the hours go over midnight. */
  from: number
  to: number
  /** A name of the IANA database, such as Europe/Berlin. */
  timeZone: string
}
