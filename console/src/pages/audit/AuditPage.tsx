import { useTitle } from '../../app/title.ts'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export default function AuditPage() {
  useTitle('Audit')
  return (
    <Page title="Audit">
      <Loading />
    </Page>
  )
}
