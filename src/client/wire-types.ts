// Types for the answers of the agent, session and run routes. Names are as on the wire.

/** A way to reach operators. */
export interface Channel {
  /** Such as `slack:C012AB3CD`, `ntfy:ada`, `push:ada`, `webhook:pager` or `bell`. */
  name: string
  surface: 'local' | 'remote'
  /** False: it reaches nobody yet, such as Web Push before a browser has subscribed. */
  set_up: boolean
  /** Items that wait to be shown. */
  waiting: number
  /** Items that it could not show one by one, and has not summed up yet. */
  missed: number
  last_shown_at: string | null
  /** Why nobody is reached there just now; null: it works. */
  trouble: string | null
}

/** A browser that takes push messages for you. */
export interface PushSubscription {
  subscription_id: string
  label: string | null
  /** Host of the push service. */
  service: string
  created_at: string
}

/** What `pushManager.subscribe` gives, as `toJSON` of it. */
export interface BrowserPushSubscription {
  endpoint: string
  keys: { p256dh: string; auth: string }
}
