import { Link } from 'wouter'
import { useTitle } from '../../app/title.ts'
import { Page } from '../../parts/Page.tsx'
import { Empty } from '../../parts/States.tsx'

export default function NotFoundPage() {
  useTitle('Not found')
  return (
    <Page title="Not found">
      <Empty title="There is no such page">
        Check the address, or go <Link href="/">to the start</Link>.
      </Empty>
    </Page>
  )
}
