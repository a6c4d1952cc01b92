import { lazy, Suspense } from 'react'
import { useSearchParams } from 'wouter'
import { useTitle } from '../../app/title.ts'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import { AgentList } from './AgentList.tsx'
import { AgentPage } from './AgentPage.tsx'

const CheckFile = lazy(() => import('./CheckFile.tsx'))
const DraftPolicy = lazy(() => import('./DraftPolicy.tsx'))
const TryPolicy = lazy(() => import('./TryPolicy.tsx'))

const tabs = [
  { id: 'agents', name: 'Agents', href: '/agents' },
  { id: 'check', name: 'Check a file', href: '/agents?tab=check' },
  { id: 'policy', name: 'Try a policy', href: '/agents?tab=policy' },
  { id: 'draft', name: 'Draft a policy', href: '/agents?tab=draft' },
] as const

export default function AgentsPage({ name }: { name: string | null }) {
  return name === null ? <AllAgents /> : <AgentPage key={name} name={name} />
}

/** The agents of this server and elsewhere, and three tools for those who write files for them. */
function AllAgents() {
  const [params] = useSearchParams()
  const current = tabs.find(({ id }) => id === params.get('tab')) ?? tabs[0]
  useTitle(current.name)
  return (
    <Page title="Agents" bar={<Tabs label="Agents" tabs={tabs} current={current.id} />}>
      <Suspense fallback={<Loading rows={1} height={240} />}>
        {current.id === 'agents' && <AgentList />}
        {current.id === 'check' && <CheckFile />}
        {current.id === 'policy' && <TryPolicy />}
        {current.id === 'draft' && <DraftPolicy />}
      </Suspense>
    </Page>
  )
}
