// The settings about the ways to reach operators. Each kind of channel has its own rows, in `operators`.

import type { ChannelSettings } from '../../domain/settings/channel-settings.ts'
import { channelRows, channels } from '../../operators/channels.ts'
import { webAddress } from './channel-values.ts'
import { fileSetting } from './setting.ts'
import type { ReadSetting } from './settings.ts'

export const channelTable = {
  public_url: fileSetting<string | null>({
    ...webAddress(),
    description: 'Where people open this server in a browser. Links in messages to operators begin with it.',
    example: 'https://agents.example.com',
    defaultText: 'the address that the server listens on',
  }),
  ...channelRows,
}

const isKey = (key: string): key is keyof typeof channelTable => Object.hasOwn(channelTable, key)

export const assembleChannels = (read: ReadSetting): ChannelSettings => ({
  publicUrl: read('public_url'),
  own: Object.fromEntries(
    channels.map((kind) => {
      const keys = Object.keys(kind.settings).filter(isKey)
      return [kind.name, kind.read(Object.fromEntries(keys.map((key) => [key, read(key)])))]
    }),
  ),
})
