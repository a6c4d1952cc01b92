import type { Client } from 'quarterdeck/client'
import { useSyncExternalStore } from 'react'
import { createOutbox, type Outbox, type Outgoing } from './outbox.ts'
import { useClient } from './server.tsx'

/** One for each person who signs in. It outlives the pages: a message goes out although one looks at something else. */
const outboxes = new WeakMap<Client, Outbox>()

export function useOutbox(): Outbox {
  const client = useClient()
  const known = outboxes.get(client)
  if (known !== undefined) return known
  const made = createOutbox({ client, storage: sessionStorage })
  outboxes.set(client, made)
  return made
}

export function useOutgoing(sessionId: string): readonly Outgoing[] {
  const outbox = useOutbox()
  return useSyncExternalStore(outbox.subscribe, () => outbox.of(sessionId))
}
