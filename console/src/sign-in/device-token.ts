// The token of this browser. It lives as long as the tab, or stays in the browser if the person wants that. Never in a cookie: a browser
// sends the cookies of localhost to every other port too, and an agent may have started what listens there.

import { ClientError, createClient } from 'quarterdeck/client'
import { serverUrl } from '../base.ts'
import { tabStorage } from '../browser-storage.ts'
import { given } from '../given.ts'
import { createObserved, useObserved } from '../observed.ts'
import { openTabs, type Tabs } from '../tabs.ts'
import { takeCode } from './code-in-address.ts'
import { inDatabase } from './database.ts'
import { deviceName } from './device-name.ts'
import { leaveNothing } from './leave-nothing.ts'

/**
 * `asked`: by the person, in this or another tab. `refused`: the server no longer takes the token. `proxy`: the proxy no longer says who
 * this is. `unheard`: the server did not answer.
 */
export type WhySignedOut = 'asked' | 'refused' | 'proxy' | 'unheard'

/**
 * In place of a token: a proxy in front of the server has signed this person in, and says so with every request. On the page for users, also
 * the page around its frame; and on a server where talking needs no token, nobody.
 */
export const BY_PROXY = ''

/** What somebody signs in with. With a passkey alone they show nothing else. */
export type Credential = ({ code: string } | { token: string } | { withPasskey: true }) & { keep: boolean }

export interface FailedSignIn {
  credential: Credential
  error: unknown
}

interface DeviceState {
  token: string | null
  /** False: the browser has not said yet whether it has a token. */
  isReady: boolean
  /** Null: nobody signed out since the page was opened. */
  whySignedOut: WhySignedOut | null
  /** Whom a proxy has signed in, although they may not use the console. */
  stranger: string | null
  /** The code in the address did not sign this browser in. */
  failed: FailedSignIn | null
  /** Whether a passkey alone can sign somebody in here. Null: nobody has asked the server since somebody signed in. */
  hasPasskey: boolean | null
}

type TabMessage = 'sign-out' | 'kept' | 'ask' | { token: string }

const KEY = 'quarterdeck.token'
/** How long a new tab waits for another one to hand it the token. Usually it takes a millisecond. */
const ASK_MS = 150

const state = createObserved<DeviceState>({
  token: tabStorage.getItem(KEY),
  isReady: false,
  whySignedOut: null,
  stranger: null,
  failed: null,
  hasPasskey: null,
})
/** Tabs sign out together, and a token that stays is for all of them. Null: the page has not begun, as in a test that imports this file. */
let tabs: Tabs<TabMessage> | null = null

const set = (changes: Partial<DeviceState>): void => state.set({ ...state.current(), ...changes })

/** For the page for users, which takes other tokens too: the console must not get them from this tab. Null: signed out. */
export function takeToken(token: string | null, whySignedOut: WhySignedOut | null = null): void {
  tabs?.close()
  tabs = null
  set({ token, whySignedOut, isReady: true })
}

const keptToken = (): Promise<string | null> =>
  inDatabase<string>('readonly', (store) => store.get(KEY)).catch(() => null)

/** Listens to the other tabs and looks for a token. The page does this once, at its start. */
export async function beginSignIn(): Promise<void> {
  tabs = openTabs('quarterdeck-sign-in')
  tabs.listen(hear)
  await findToken()
}

async function findToken(): Promise<void> {
  const before = signOutsHeard
  const kept = currentToken() ?? (await keptToken())
  const token = kept ?? (await tokenOfAnotherTab())
  // What was found was read before the sign-out, or comes from a tab that has not heard of it yet.
  if (signOutsHeard > before) return set({ token: null, isReady: true, whySignedOut: 'asked' })
  // Most people who have no token have just opened a link with a code. They need no page that asks for one.
  const credential = token === null ? takeCode() : null
  if (credential !== null) {
    return signInWith(credential).catch((error: unknown) => set({ failed: { credential, error }, isReady: true }))
  }
  if (token === null) return set({ ...(await askProxy()), isReady: true })
  if (kept === null) tabStorage.setItem(KEY, token)
  set({ token, isReady: true })
}
let signOutsHeard = 0

/** Who has no token here may need none. The server answers this to everybody. */
async function askProxy(): Promise<Pick<DeviceState, 'token' | 'stranger' | 'hasPasskey'>> {
  const who = await createClient({ url: serverUrl, retries: 0 })
    .who()
    .catch(() => null)
  // A token that the proxy adds says it too.
  const hasPasskey = who?.passkey ?? null
  if (who?.user == null || who.signed_in_by === 'device') return { token: null, stranger: null, hasPasskey }
  const isIn = who.role === 'operator'
  return { token: isIn ? BY_PROXY : null, stranger: isIn ? null : who.user, hasPasskey }
}

/** For the page that signs in. Most often the server has said it before the page was there. */
export async function askForPasskeys(): Promise<void> {
  if (state.current().hasPasskey === null) set({ hasPasskey: (await askProxy()).hasPasskey })
}

/** What a client of the server sends. */
export const credentialOf = (token: string): { token?: string } => (token === BY_PROXY ? {} : { token })

/** A link that opens in a new tab needs no second sign-in. Only pages of this server hear the question. */
async function tokenOfAnotherTab(): Promise<string | null> {
  const answered = Promise.withResolvers<string | null>()
  handedOver = answered.resolve
  tabs?.post('ask')
  setTimeout(() => answered.resolve(null), ASK_MS)
  return answered.promise
}
let handedOver: (token: string) => void = () => {}

function hear(message: TabMessage): void {
  if (message === 'sign-out') {
    signOutsHeard += 1
    void endHere('asked')
  } else if (message === 'ask') {
    const token = currentToken()
    if (token !== null && token !== BY_PROXY) tabs?.post({ token })
  } else if (message !== 'kept') handedOver(message.token)
  else if (currentToken() === null) void findToken()
}

const keepToken = (token: string): Promise<boolean> =>
  inDatabase('readwrite', (store) => store.put(token, KEY)).then(
    () => true,
    () => false,
  )

/** `keep`: also after the browser was closed. If the browser cannot, it lives as long as the tab: the code is used up by now. */
export async function rememberToken(token: string, keep: boolean): Promise<void> {
  const isKept = keep && (await keepToken(token))
  if (!isKept) tabStorage.setItem(KEY, token)
  set({ token, isReady: true, whySignedOut: null, failed: null, hasPasskey: null })
  if (isKept) tabs?.post('kept')
}

/** The server asks some people for a passkey too: then it throws `passkey_required`. */
export async function signInWith({ keep, ...shown }: Credential, passkey?: string): Promise<void> {
  const client = createClient({ url: serverUrl, ...('token' in shown ? shown : {}), retries: 0 })
  const code = 'code' in shown ? shown : {}
  const signedIn = await client.signIn({ ...code, ...given({ passkey }), keep, label: deviceName() })
  await rememberToken(signedIn.token, keep)
}

/** Revokes the token and leaves nothing behind in the browser, in all tabs. Without a token it does nothing. */
export async function signOut(why: 'asked' | 'refused'): Promise<void> {
  if (currentToken() === null) return
  tabs?.post('sign-out')
  await endHere(why)
}

async function endHere(why: 'asked' | 'refused'): Promise<void> {
  const token = currentToken()
  if (token === null) return
  tabStorage.removeItem(KEY)
  // The pages leave first: one of them may write down what somebody was typing when it goes.
  set({ token: null, whySignedOut: why === 'refused' && token === BY_PROXY ? 'proxy' : why })
  await Promise.all([leaveNothing(), why === 'asked' && token !== BY_PROXY ? revoke(token) : null])
}

/** Every tab revokes its own token. They may have the same one, which is then gone already. */
async function revoke(token: string): Promise<void> {
  try {
    await createClient({ url: serverUrl, token, retries: 1 }).signOut()
  } catch (error) {
    const isGone = error instanceof ClientError && error.status === 401
    if (!isGone && currentToken() === null) set({ whySignedOut: 'unheard' })
  }
}

/** Null: this browser is not signed in. */
export const currentToken = (): string | null => state.current().token

export const useDeviceToken = (): DeviceState => useObserved(state)
