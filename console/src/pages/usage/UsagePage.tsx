import { useTitle } from '../../app/title.ts'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export default function UsagePage() {
  useTitle('Usage')
  return (
    <Page title="Usage">
      <Loading />
    </Page>
  )
}
