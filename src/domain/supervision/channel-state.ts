/** How a channel to operators is doing. */
export interface ChannelState {
  name: string
  /** What people call channels of its kind. */
  title: string
  /** `local`: at the terminal of this machine. `remote`: in a chat, on a phone, at a webhook. */
  surface: 'local' | 'remote'
  /** Whether it reaches somebody at all, as it is set up now. */
  isSetUp: boolean
  waiting: number
  /** Items that it could not show one by one, and has not summed up yet. */
  missed: number
  /** Epoch ms of the last item that it showed since the start; null: none. */
  lastShownAt: number | null
  /** Why nobody is reached there just now; null: it works. */
  trouble: string | null
}

/** What became of a wish to see items of the feed once more. */
export interface Replay {
  replayed: number
  /** Number of the last item of the feed that was looked at. */
  upTo: number
  /** More would follow, but the channel cannot take it now. */
  hasMore: boolean
}
