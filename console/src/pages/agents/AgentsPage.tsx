import { useTitle } from '../../app/title.ts'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export default function AgentsPage({ name }: { name: string | null }) {
  useTitle('Agents')
  return (
    <Page title="Agents">
      <Loading />
    </Page>
  )
}
