import { consolePath, serverUrl } from '../../base.ts'
import { useMe } from '../../data/me.ts'
import { Button } from '../../parts/Button.tsx'
import { SignOutIcon } from '../../parts/icons.ts'
import { Fact } from '../../parts/Page.tsx'
import { signOut } from '../../sign-in/device-token.ts'
import styles from './AboutPart.module.css'
import { Loaded, Section } from './Section.tsx'

export function AboutPart() {
  const me = useMe()
  return (
    <Section
      title="About"
      action={
        me.data?.signed_in_by !== 'proxy' && (
          <Button icon={<SignOutIcon />} onClick={() => void signOut('asked')}>
            Sign out
          </Button>
        )
      }
    >
      <Loaded query={me}>
        {({ user, admin, version, agent, signed_in_by, groups, email }) => (
          <dl className={styles.facts}>
            <Fact name="Signed in as">
              <bdi>{user}</bdi>
              {admin && ', who may decide for everybody'}
              {signed_in_by === 'proxy' && ', by the proxy in front of this server: sign out there'}
            </Fact>
            {email !== null && (
              <Fact name="Email">
                <bdi>{email}</bdi>
              </Fact>
            )}
            {groups.length > 0 && (
              <Fact name="Groups">
                <bdi>{groups.join(', ')}</bdi>
              </Fact>
            )}
            <Fact name="Version">Quarterdeck {version}</Fact>
            <Fact name="Server">
              <code>{serverUrl}</code>
            </Fact>
            <Fact name="Default agent">{agent === null ? 'None' : <bdi>{agent}</bdi>}</Fact>
            <Fact name="For programs">
              <a href={`${serverUrl}/docs`}>The HTTP routes, with examples</a>
            </Fact>
            <Fact name="Licences">
              MIT, and <a href={`${consolePath}/licences.txt`}>those of the packages in this console</a>
            </Fact>
          </dl>
        )}
      </Loaded>
    </Section>
  )
}
