import { useLocalStorage } from '@mantine/hooks'
import { showTimesIn, type Zone } from '../formats/zone.ts'

/** The zone of every time shown, kept in this browser. */
export function useZone(): [Zone, (zone: Zone) => void] {
  const [zone, setZone] = useLocalStorage<Zone>({
    key: 'sluice.zone',
    defaultValue: 'local',
    getInitialValueInEffect: false,
  })
  showTimesIn(zone)
  return [zone, setZone]
}
