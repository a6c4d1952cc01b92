// The token of this browser. It lives as long as the tab, or stays in the browser if the person wants that. Never in a cookie: a browser
// sends the cookies of localhost to every other port too, and an agent may have started what listens there.

import { ClientError, createClient } from 'quarterdeck/client'
import { useSyncExternalStore } from 'react'
import { serverUrl } from '../base.ts'
import { tabStorage } from '../browser-storage.ts'
import { openChannel } from '../tab-channel.ts'
import { inDatabase } from './database.ts'
import { leaveNothing } from './leave-nothing.ts'

/** `asked`: by the person, in this or another tab. `refused`: the server no longer takes the token. `unheard`: it did not answer. */
export type WhySignedOut = 'asked' | 'refused' | 'unheard'

interface DeviceState {
  token: string | null
  /** False: the browser has not said yet whether it has a token. */
  isReady: boolean
  /** Null: nobody signed out since the page was opened. */
  whySignedOut: WhySignedOut | null
}

type TabMessage = 'sign-out' | 'kept' | 'ask' | { token: string }

const KEY = 'quarterdeck.token'
/** How long a new tab waits for another one to hand it the token. Usually it takes a millisecond. */
const ASK_MS = 150

let state: DeviceState = { token: tabStorage.getItem(KEY), isReady: false, whySignedOut: null }
const listeners = new Set<() => void>()
/** Tabs sign out together, and a token that stays is for all of them. */
const channel = openChannel<TabMessage>('quarterdeck-sign-in')

function set(next: Partial<DeviceState>): void {
  state = { ...state, ...next }
  for (const listener of listeners) listener()
}

const keptToken = (): Promise<string | null> =>
  inDatabase<string>('readonly', (store) => store.get(KEY)).catch(() => null)

async function begin(): Promise<void> {
  const token = state.token ?? (await keptToken()) ?? (await tokenOfAnotherTab())
  set({ token, isReady: true })
}

/** A link that opens in a new tab needs no second sign-in. Only pages of this server hear the question. */
async function tokenOfAnotherTab(): Promise<string | null> {
  const answered = Promise.withResolvers<string | null>()
  handedOver = answered.resolve
  channel.post('ask')
  setTimeout(() => answered.resolve(null), ASK_MS)
  const token = await answered.promise
  if (token !== null) tabStorage.setItem(KEY, token)
  return token
}
let handedOver: (token: string) => void = () => {}

channel.listen((data) => {
  if (data === 'sign-out') void endHere('asked')
  else if (data === 'ask') {
    if (state.token !== null) channel.post({ token: state.token })
  } else if (data !== 'kept') handedOver(data.token)
  else if (state.token === null) void begin()
})
void begin()

const keepToken = (token: string): Promise<boolean> =>
  inDatabase('readwrite', (store) => store.put(token, KEY)).then(
    () => true,
    () => false,
  )

/** `keep`: also after the browser was closed. If the browser cannot, it lives as long as the tab: the code is used up by now. */
export async function rememberToken(token: string, keep: boolean): Promise<void> {
  const isKept = keep && (await keepToken(token))
  if (!isKept) tabStorage.setItem(KEY, token)
  set({ token, isReady: true, whySignedOut: null })
  if (isKept) channel.post('kept')
}

/** Revokes the token and leaves nothing behind in the browser, in all tabs. Without a token it does nothing. */
export async function signOut(why: 'asked' | 'refused'): Promise<void> {
  if (state.token === null) return
  channel.post('sign-out')
  await endHere(why)
}

async function endHere(why: 'asked' | 'refused'): Promise<void> {
  const { token } = state
  if (token === null) return
  tabStorage.removeItem(KEY)
  // The pages leave first: one of them may write down what somebody was typing when it goes.
  set({ token: null, whySignedOut: why })
  await Promise.all([leaveNothing(), why === 'asked' ? revoke(token) : null])
}

/** Every tab revokes its own token. They may have the same one, which is then gone already. */
async function revoke(token: string): Promise<void> {
  try {
    await createClient({ url: serverUrl, token, retries: 1 }).signOut()
  } catch (error) {
    const isGone = error instanceof ClientError && error.status === 401
    if (!isGone && state.token === null) set({ whySignedOut: 'unheard' })
  }
}

/** Null: this browser is not signed in. */
export const currentToken = (): string | null => state.token

export const useDeviceToken = (): DeviceState =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => state,
  )
