// Which channels show what an agent elsewhere asks: the mode of its session decides.

import type { FeedItem, PersonWait } from '../domain/feed.ts'
import type { OperationalMode } from '../domain/supervision.ts'
import { type Surface, surfacesOf } from '../supervision/sessions/mode-surfaces.ts'
import type { OperatorChannel } from './operator.ts'

/** Whether a channel has to show an item of the feed that concerns it. */
export type IsShownHere = (channel: Pick<OperatorChannel, 'name' | 'surface'>, item: FeedItem) => Promise<boolean>

interface ShownDeps {
  configured: ReadonlySet<Surface>
  find: (item: FeedItem) => Promise<PersonWait | null>
  /** Null: the session belongs to one of our own agents, whose questions are shown everywhere. */
  modeOf: (sessionId: string) => Promise<OperationalMode | null>
}

export function createIsShownHere({ configured, find, modeOf }: ShownDeps): IsShownHere {
  return async ({ name, surface }, item) => {
    if (item.kind !== 'wait') return true
    const mode = await modeOf(item.sessionId)
    if (mode === null || surfacesOf(mode, configured, item.risk).includes(surface)) return true
    // A message that is there already is brought up to date in every mode.
    return (await find(item))?.messageRefs[name] !== undefined
  }
}
