import { useTitle } from '../../app/title.ts'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export default function HealthPage() {
  useTitle('Health')
  return (
    <Page title="Health">
      <Loading />
    </Page>
  )
}
