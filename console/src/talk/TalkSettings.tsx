import { useTitle } from '../app/title.ts'
import { isFramed } from '../base.ts'
import { usePlace } from '../data/place.ts'
import { KeyboardPart, ThemePart } from '../pages/settings/look-parts.tsx'
import { MemoriesPart } from '../pages/settings/memories/MemoriesPart.tsx'
import { Section } from '../pages/settings/Section.tsx'
import { BackLink } from '../parts/BackLink.tsx'
import { Button } from '../parts/Button.tsx'
import { SignOutIcon } from '../parts/icons.ts'
import { Page } from '../parts/Page.tsx'
import { BY_PROXY, currentToken, takeToken } from '../sign-in/device-token.ts'
import styles from './TalkSettings.module.css'
import { leave } from './user-token.ts'
import { useWho } from './who.ts'

export default function TalkSettings() {
  useTitle('Settings')
  return (
    <Page
      title={
        <>
          <BackLink href="/chat" name="Back to the chat" />
          Settings
        </>
      }
    >
      <div className={styles.parts}>
        <Account />
        <MemoriesPart ofOthers={false} />
        <ThemePart />
        <KeyboardPart />
      </div>
    </Page>
  )
}

/** Who this is, and the way out. */
function Account() {
  const { data: who } = useWho()
  const { role } = usePlace()
  const isAnyone = role === 'anyone'
  const canSignOut = !isAnyone && currentToken() !== BY_PROXY
  return (
    <Section
      title="Account"
      action={
        isAnyone ? (
          <Button onClick={() => takeToken(null)}>Sign in with a token</Button>
        ) : (
          canSignOut && (
            <Button icon={<SignOutIcon />} onClick={() => void leave('asked')}>
              Sign out
            </Button>
          )
        )
      }
      about={
        isAnyone ? (
          'You need no token to talk on this server. To decide about what an agent asks, sign in with one.'
        ) : (
          <>
            You are signed in as <bdi>{who?.user}</bdi>
            {!canSignOut && (isFramed ? ', by the page around this chat' : ', by the proxy in front of this server')}.
          </>
        )
      }
    />
  )
}
