import type { Client } from 'quarterdeck/client'
import { useSyncExternalStore } from 'react'
import { tabStorage } from '../browser-storage.ts'
import { currentToken } from '../sign-in/device-token.ts'
import { newId } from './new-id.ts'
import { createOutbox, type Outbox, type Outgoing } from './outbox.ts'
import { useClient } from './server.tsx'

/** A request may fail because somebody signed out. Then nothing is left in the browser. */
const signedInStorage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = {
  getItem: (key) => tabStorage.getItem(key),
  setItem: (key, value) => {
    if (currentToken() !== null) tabStorage.setItem(key, value)
  },
  removeItem: (key) => tabStorage.removeItem(key),
}

/** One for each person who signs in. It outlives the pages: a message goes out although one looks at something else. */
const outboxes = new WeakMap<Client, Outbox>()

export function useOutbox(): Outbox {
  const client = useClient()
  const known = outboxes.get(client)
  if (known !== undefined) return known
  const made = createOutbox({ client, storage: signedInStorage, makeId: newId })
  outboxes.set(client, made)
  return made
}

export function useOutgoing(sessionId: string): readonly Outgoing[] {
  const outbox = useOutbox()
  return useSyncExternalStore(outbox.subscribe, () => outbox.of(sessionId))
}
