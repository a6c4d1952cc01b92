import { useTitle } from '../../app/title.ts'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export default function ChatPage({ id }: { id: string | null }) {
  useTitle('Chat')
  return (
    <Page title="Chat">
      <Loading />
    </Page>
  )
}
