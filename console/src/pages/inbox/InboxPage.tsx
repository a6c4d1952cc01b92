import { useTitle } from '../../app/title.ts'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export default function InboxPage({ id }: { id: string | null }) {
  useTitle('Inbox')
  return (
    <Page title="Inbox">
      <Loading />
    </Page>
  )
}
