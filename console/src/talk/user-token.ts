// Who talks on the page for users: somebody with a token of theirs, an operator whom the console has signed in, somebody whom a proxy or
// the page around a frame has signed in, or anybody where talking needs no token.

import { createClient } from 'quarterdeck/client'
import { setTheme } from '../app/theme.ts'
import { isFramed, serverUrl } from '../base.ts'
import { tabStorage } from '../browser-storage.ts'
import { wrapRequests } from '../data/requests.ts'
import { inDatabase } from '../sign-in/database.ts'
import { BY_PROXY, beginSignIn, currentToken, signOut, takeToken, type WhySignedOut } from '../sign-in/device-token.ts'
import { leaveNothing } from '../sign-in/leave-nothing.ts'
import { openTabs, type Tabs } from '../tabs.ts'
import { createHandedTokens } from './handed-tokens.ts'

const KEY = 'quarterdeck.user-token'
/** Null: the page has not begun. */
let tabs: Tabs<'sign-out'> | null = null
/** The token in use is a person's own. It is no device of this server, and not ours to revoke. */
let isOwn = false

const whoHas = (token?: string) => createClient({ url: serverUrl, token, retries: 0 }).who()

/** Finds out who talks. The page does this once, at its start. */
export async function beginTalk(): Promise<void> {
  if (isFramed) return beginInFrame()
  tabs = openTabs('quarterdeck-talk')
  tabs.listen(() => isOwn && void endHere('asked'))
  const own =
    tabStorage.getItem(KEY) ?? (await inDatabase<string>('readonly', (store) => store.get(KEY)).catch(() => null))
  if (own !== null) return takeOwn(own)
  await beginSignIn()
  if (currentToken() !== null) return
  const who = await whoHas().catch(() => null)
  if (who !== null && who.role !== 'public') takeToken(BY_PROXY)
}

function takeOwn(token: string): void {
  isOwn = true
  takeToken(token)
}

/** Takes a token that somebody pasted, unless it is an operator's, which signs a device in. True: it was taken. */
export async function bringToken(token: string, keep: boolean): Promise<boolean> {
  const { role, signed_in_by } = await whoHas(token)
  if (role === 'public' || (role === 'operator' && signed_in_by === 'token')) return false
  const isKept =
    keep &&
    (await inDatabase('readwrite', (store) => store.put(token, KEY)).then(
      () => true,
      () => false,
    ))
  if (!isKept) tabStorage.setItem(KEY, token)
  takeOwn(token)
  return true
}

/** `asked`: by the person. `refused`: the server no longer takes the token. */
export async function leave(why: 'asked' | 'refused'): Promise<void> {
  if (!isOwn && !isFramed) return signOut(why)
  tabs?.post('sign-out')
  await endHere(why)
}

async function endHere(why: WhySignedOut): Promise<void> {
  isOwn = false
  takeToken(null, why)
  if (!isFramed) await leaveNothing()
}

async function beginInFrame(): Promise<void> {
  const named = document.querySelector<HTMLMetaElement>('meta[name="frame-origins"]')?.content ?? ''
  let shownTo: string | null = null
  const handed = createHandedTokens({
    origins: named.split(' ').filter((origin) => origin !== ''),
    around: window.parent,
    onTheme: setTheme,
    async accept(token) {
      const { user } = await whoHas(token).catch(() => ({ user: null }))
      // What one person has seen and written is not for the next one.
      if (user !== null && shownTo !== null && user !== shownTo) location.reload()
      if (user === null || (shownTo !== null && user !== shownTo)) return false
      shownTo = user
      takeToken(BY_PROXY)
      return true
    },
  })
  wrapRequests(handed.wrap)
  window.addEventListener('message', (event) => void handed.hear(event))
  await handed.wanted()
}
