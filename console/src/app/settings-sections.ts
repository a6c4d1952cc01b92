/** The sections of the settings, once: their page and the palette read this list. */
export const settingsSections = [
  { id: 'devices', name: 'Devices' },
  { id: 'passkeys', name: 'Passkeys' },
  { id: 'push', name: 'Notifications' },
  { id: 'grants', name: 'Remembered answers' },
  { id: 'memories', name: 'Memories' },
  { id: 'channels', name: 'Channels' },
  { id: 'keys', name: 'Access tokens' },
  { id: 'theme', name: 'Theme' },
  { id: 'keyboard', name: 'Keyboard' },
  { id: 'about', name: 'About' },
] as const

export type SettingsSection = (typeof settingsSections)[number]['id']
