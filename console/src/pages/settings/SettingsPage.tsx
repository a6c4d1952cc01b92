import { useTitle } from '../../app/title.ts'
import { Page } from '../../parts/Page.tsx'
import { Loading } from '../../parts/States.tsx'

export default function SettingsPage({ part }: { part: string | null }) {
  useTitle('Settings')
  return (
    <Page title="Settings">
      <Loading />
    </Page>
  )
}
