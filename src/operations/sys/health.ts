import { version } from '../../ground/version.ts';
import { operation } from '../declaration/operation.ts';
import { flag, integer } from '../declaration/params.ts';
import { publicRead, sealStatusOf } from './seal-state.ts';

const code = (situation: string) =>
  integer({ help: `Status to answer when ${situation}.`, minimum: 200, maximum: 599, cli: { hidden: true } });
const accepted = flag({
  help: 'Accepted for the sake of clients; no such state exists here.',
  cli: { hidden: true },
});
const acceptedCode = integer({
  help: 'Accepted for the sake of clients; no such state exists here.',
  cli: { hidden: true },
});

const ACTIVE = 200;
const SEALED = 503;

export const declaration = operation({
  ...publicRead,
  route: 'GET /sys/health',
  params: {
    activecode: code('unsealed'),
    sealedcode: code('sealed'),
    uninitcode: acceptedCode,
    standbycode: acceptedCode,
    standbyok: accepted,
    perfstandbyok: accepted,
    drsecondarycode: acceptedCode,
    performancestandbycode: acceptedCode,
    haunhealthycode: acceptedCode,
    removedcode: acceptedCode,
  },
  async run({ core }, values) {
    const { sealed, storeId } = await sealStatusOf(core);
    return {
      statusCode: sealed ? (values.sealedcode ?? SEALED) : (values.activecode ?? ACTIVE),
      data: {
        initialized: true,
        sealed,
        standby: false,
        performance_standby: false,
        replication_performance_mode: 'disabled',
        replication_dr_mode: 'disabled',
        server_time_utc: Math.floor(core.clock.now() / 1000),
        version,
        cluster_name: 'coffer',
        cluster_id: storeId,
      },
    };
  },
});
