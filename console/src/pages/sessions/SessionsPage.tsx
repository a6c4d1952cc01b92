import { useTitle } from '../../app/title.ts'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export default function SessionsPage() {
  useTitle('Sessions')
  return (
    <Page title="Sessions">
      <Loading />
    </Page>
  )
}
