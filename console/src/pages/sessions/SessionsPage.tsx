import { lazy, Suspense, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useTitle } from '../../app/title.ts'
import { writeFilters } from '../../data/list-filters.ts'
import { useIsLive } from '../../data/use-live.tsx'
import { Button } from '../../parts/Button.tsx'
import { NewIcon } from '../../parts/icons.ts'
import { Page } from '../../parts/Page.tsx'
import { FoundList } from './FoundList.tsx'
import { SessionFilterBar } from './SessionFilterBar.tsx'
import { SessionRows } from './SessionRows.tsx'
import { noFilters, readSessionFilters, type SessionFilters } from './session-filters.ts'

const StartAgentDialog = lazy(() => import('./StartAgentDialog.tsx'))

/** All sessions of all owners, newest first, or what a search has found in them. */
export default function SessionsPage() {
  useTitle('Sessions')
  const [params, setParams] = useSearchParams()
  const [, go] = useLocation()
  const [isStarting, setStarting] = useState(false)
  const isLive = useIsLive()
  const field = useRef<HTMLInputElement>(null)
  const filters = readSessionFilters(params)
  const setFilters = (next: SessionFilters) => setParams(writeFilters(next), { replace: true })
  useKeys([
    { keys: '/', name: 'Search in sessions', group: 'Sessions', run: () => field.current?.focus() },
    { keys: 'c', name: 'Start a coding agent', group: 'Sessions', run: () => setStarting(true) },
  ])
  const isSearch = filters.q.trim() !== ''
  return (
    <Page
      title="Sessions"
      shape="fill"
      actions={
        <Button icon={<NewIcon />} disabled={!isLive} onClick={() => setStarting(true)}>
          Start an agent
        </Button>
      }
      bar={<SessionFilterBar filters={filters} onChange={setFilters} fieldRef={field} />}
    >
      {isSearch ? (
        <FoundList filters={filters} onClear={() => setFilters({ ...filters, q: '' })} />
      ) : (
        <SessionRows key={JSON.stringify(filters)} filters={filters} onClear={() => setFilters(noFilters)} />
      )}
      {isStarting && (
        <Suspense>
          <StartAgentDialog onClose={() => setStarting(false)} onStarted={(id) => go(`/sessions/${id}`)} />
        </Suspense>
      )}
    </Page>
  )
}
