import { QueryClientProvider } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Redirect, Route, Router, Switch, useLocation } from 'wouter'
import { consolePath } from '../base.ts'
import { queries } from '../data/queries.ts'
import { ServerProvider } from '../data/server.tsx'
import { LiveProvider } from '../data/use-live.tsx'
import { lazyPart, Nothing } from '../parts/lazy-part.tsx'
import { LoadingPage } from '../parts/States.tsx'
import { takeCode } from '../sign-in/code-in-address.ts'
import { signOut, useDeviceToken } from '../sign-in/device-token.ts'
import { Keys } from './Keys.tsx'
import { PageBoundary } from './PageBoundary.tsx'
import { pages } from './pages.ts'
import { Shell } from './Shell.tsx'

/** Loaded when they are opened. */
const InboxPage = lazy(() => import('../pages/inbox/InboxPage.tsx'))
const ChatPage = lazy(() => import('../pages/chat/ChatPage.tsx'))
const SessionsPage = lazy(() => import('../pages/sessions/SessionsPage.tsx'))
const SessionPage = lazy(() => import('../pages/session/SessionPage.tsx'))
const AgentsPage = lazy(() => import('../pages/agents/AgentsPage.tsx'))
const SchedulesPage = lazy(() => import('../pages/schedules/SchedulesPage.tsx'))
const UsagePage = lazy(() => import('../pages/usage/UsagePage.tsx'))
const HealthPage = lazy(() => import('../pages/health/HealthPage.tsx'))
const AuditPage = lazy(() => import('../pages/audit/AuditPage.tsx'))
const SettingsPage = lazy(() => import('../pages/settings/SettingsPage.tsx'))
const NotFoundPage = lazy(() => import('../pages/not-found/NotFoundPage.tsx'))
const SignInPage = lazy(() => import('../sign-in/SignInPage.tsx'))

// Nothing waits for it, so nothing fails with it.
const Later = lazyPart(() => import('./Later.tsx'), Nothing)
const LATER_MS = 1_000

const onRefused = () => void signOut('refused')

export function App() {
  const { token, isReady, whySignedOut, stranger, failed } = useDeviceToken()
  useEffect(() => {
    // What one person has seen is not for the next one.
    if (token === null) queries.clear()
  }, [token])
  if (!isReady) return null
  return (
    <QueryClientProvider client={queries}>
      <Router base={consolePath}>
        {token === null ? (
          <PageBoundary at="">
            <Suspense>
              <SignInPage whySignedOut={whySignedOut} stranger={stranger} failed={failed} />
            </Suspense>
          </PageBoundary>
        ) : (
          <ServerProvider token={token} onRefused={onRefused}>
            <LiveProvider token={token} onRefused={onRefused}>
              <Keys>
                <UnusedCode />
                <Pages />
              </Keys>
            </LiveProvider>
          </ServerProvider>
        )}
      </Router>
    </QueryClientProvider>
  )
}

/** Somebody who is signed in needs no code. It leaves the address, so that it is not left lying about. */
function UnusedCode() {
  useEffect(() => {
    takeCode()
    const drop = () => void takeCode()
    window.addEventListener('hashchange', drop)
    return () => window.removeEventListener('hashchange', drop)
  }, [])
  return null
}

function Pages() {
  const [isSettled, setSettled] = useState(false)
  const [at] = useLocation()
  const name = pages.find(({ path }) => at === path || at.startsWith(`${path}/`))?.name ?? ''
  return (
    <Shell isSettled={isSettled}>
      <Suspense fallback={<LoadingPage name={name} />}>
        <Routes />
        <AfterPage onSettled={setSettled} />
      </Suspense>
      <Suspense>{isSettled && <Later build={import.meta.url} />}</Suspense>
    </Shell>
  )
}

/** It stands beside the first page, so it begins when that is shown: whoever wants to type does not wait for what comes later. */
function AfterPage({ onSettled }: { onSettled: (is: boolean) => void }) {
  useEffect(() => {
    const timer = setTimeout(() => onSettled(true), LATER_MS)
    return () => clearTimeout(timer)
  }, [onSettled])
  return null
}

function Routes() {
  const [at] = useLocation()
  return (
    <PageBoundary at={at}>
      <Switch>
        <Route path="/">
          <Redirect to="/chat" replace />
        </Route>
        <Route path="/inbox/:id?">{({ id }) => <InboxPage id={id ?? null} />}</Route>
        <Route path="/chat/:id?">{({ id }) => <ChatPage key={id ?? 'new'} id={id ?? null} />}</Route>
        <Route path="/sessions" component={SessionsPage} />
        <Route path="/sessions/:id">{({ id }) => <SessionPage key={id} id={id} />}</Route>
        <Route path="/agents/:name?">{({ name }) => <AgentsPage name={name ?? null} />}</Route>
        <Route path="/schedules" component={SchedulesPage} />
        <Route path="/usage" component={UsagePage} />
        <Route path="/health" component={HealthPage} />
        <Route path="/audit" component={AuditPage} />
        <Route path="/settings/:part?">{({ part }) => <SettingsPage part={part ?? null} />}</Route>
        <Route component={NotFoundPage} />
      </Switch>
    </PageBoundary>
  )
}
