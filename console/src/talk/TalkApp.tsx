import { QueryClientProvider } from '@tanstack/react-query'
import type { Who } from 'quarterdeck/client'
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { Redirect, Route, Router, Switch, useLocation } from 'wouter'
import { Keys } from '../app/Keys.tsx'
import { PageBoundary } from '../app/PageBoundary.tsx'
import { consolePath, isFramed } from '../base.ts'
import { PlaceContext } from '../data/place.ts'
import { queries } from '../data/queries.ts'
import { ServerProvider } from '../data/server.tsx'
import { LiveProvider } from '../data/use-live.tsx'
import { Empty, Loading, Pending } from '../parts/States.tsx'
import { useDeviceToken } from '../sign-in/device-token.ts'
import { ChatWays } from './ChatWays.tsx'
import { TalkShell } from './TalkShell.tsx'
import { bringToken, leave } from './user-token.ts'
import { useWho } from './who.ts'

const ChatPage = lazy(() => import('../pages/chat/ChatPage.tsx'))
const ChatsPage = lazy(() => import('./ChatsPage.tsx'))
const TalkSettings = lazy(() => import('./TalkSettings.tsx'))
const NotFoundPage = lazy(() => import('../pages/not-found/NotFoundPage.tsx'))
const SignInPage = lazy(() => import('../sign-in/SignInPage.tsx'))

/** While it is developed, Vite serves this page below the console. */
const path = import.meta.env.DEV ? `${consolePath}/talk` : consolePath
const onRefused = () => void leave('refused')

/** The page for users: their chats with the agents, and nothing of the console but its parts. */
export function TalkApp() {
  const { token, isReady, whySignedOut, failed } = useDeviceToken()
  useEffect(() => {
    // What one person has seen is not for the next one.
    if (token === null) queries.clear()
  }, [token])
  if (!isReady && !isFramed) return null
  return (
    <QueryClientProvider client={queries}>
      <Router base={path}>
        {token !== null ? (
          <ServerProvider token={token} onRefused={onRefused}>
            <Known>
              <LiveProvider token={token} onRefused={onRefused}>
                <Keys>
                  <TalkShell>
                    <Suspense fallback={<Loading />}>
                      <Routes />
                    </Suspense>
                  </TalkShell>
                </Keys>
              </LiveProvider>
            </Known>
          </ServerProvider>
        ) : isFramed ? (
          <Unanswered />
        ) : (
          <PageBoundary at="">
            <Suspense>
              <SignInPage whySignedOut={whySignedOut} stranger={null} failed={failed} onToken={bringToken} />
            </Suspense>
          </PageBoundary>
        )}
      </Router>
    </QueryClientProvider>
  )
}

/** Waits until the server has said what this person may do. */
function Known({ children }: { children: ReactNode }) {
  const who = useWho()
  const role = who.data === undefined ? null : roleOf(who.data)
  useEffect(() => {
    if (role === 'nobody') onRefused()
  }, [role])
  if (role === null) return <Pending query={who} rows={3} />
  if (role === 'nobody') return null
  return <PlaceContext value={{ page: 'talk', role, ways: <ChatWays /> }}>{children}</PlaceContext>
}

function roleOf({ user, role }: Who) {
  if (role === 'public') return 'nobody'
  return user === null ? 'anyone' : role
}

/** In a frame, as long as the page around it has not said who this is. */
function Unanswered() {
  return (
    <main>
      <h1 className="unseen">Chat</h1>
      <Empty title="You are not signed in">
        The page around this chat signs you in. If nothing happens, load that page again.
      </Empty>
    </main>
  )
}

function Routes() {
  const [at] = useLocation()
  return (
    <PageBoundary at={at}>
      <Switch>
        <Route path="/">
          <Redirect to="/chat" replace />
        </Route>
        <Route path="/chat/:id?">{({ id }) => <ChatPage key={id ?? 'new'} id={id ?? null} />}</Route>
        <Route path="/sessions" component={ChatsPage} />
        <Route path="/settings" component={TalkSettings} />
        <Route component={NotFoundPage} />
      </Switch>
    </PageBoundary>
  )
}
