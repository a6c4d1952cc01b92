import { useTitle } from '../../app/title.ts'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export default function SessionPage({ id }: { id: string }) {
  useTitle('Session')
  return (
    <Page title="Session">
      <Loading />
    </Page>
  )
}
